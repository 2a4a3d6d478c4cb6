"""The GitLab job: it parses, its script runs in a bare shell, and GitLab can read what it leaves."""
import json
import re
import subprocess
import textwrap

import jsonschema
import pytest
import yaml

TRAIN = """import torch


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        total += loss.item()
        torch.cuda.synchronize()
    return total
"""

# What GitLab's documentation of code quality reports asks of each entry.
REPORT = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^[^./]"},
                    "lines": {"type": "object", "required": ["begin"],
                              "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}


def readme_recipe(source):
    """The block below "# GitLab" in the README, up to the next empty line."""
    text = (source / "README.md").read_text()
    block = re.search(r"^ +# GitLab.*\n((?: +.*\n)+)", text, re.MULTILINE)
    return yaml.safe_load(textwrap.dedent(block.group(1)))


@pytest.fixture
def jobs(source):
    return yaml.safe_load((source / ".gitlab/stallscope.yml").read_text())


def run_job(job, folder, build):
    """What the runner does: the script in a plain shell, then the artifact is collected."""
    script = job["script"] if isinstance(job["script"], list) else [job["script"]]
    done = subprocess.run(["/bin/sh", "-e"], input="\n".join(script), text=True, cwd=folder,
                          env={"PATH": f"{build}:/usr/bin:/bin"}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / job["artifacts"]["reports"]["codequality"]).read_text())


def test_the_readme_shows_the_job_of_the_repository(jobs, source):
    assert readme_recipe(source) == jobs


def test_the_job_leaves_a_report_that_gitlab_reads(jobs, build, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/train.py").write_text(TRAIN)
    (tmp_path / "src/copy.py").write_text(TRAIN)
    report = run_job(jobs["stallscope"], tmp_path, build)
    jsonschema.validate(report, REPORT)
    lines = TRAIN.splitlines()
    found = {(e["check_name"], e["location"]["path"], e["location"]["lines"]["begin"]) for e in report}
    reads = [n for n, line in enumerate(lines, 1) if ".item()" in line]
    assert {("item-in-step", "src/train.py", n) for n in reads} <= found
    assert ("explicit-sync", "src/train.py", lines.index("        torch.cuda.synchronize()") + 1) in found
    # GitLab counts entries of one fingerprint once: equal lines need different ones, in two files too.
    assert len({e["fingerprint"] for e in report}) == len(report)


def test_the_job_of_a_project_without_stalls_leaves_an_empty_report(jobs, build, tmp_path):
    (tmp_path / "clean.py").write_text("import torch\n")
    assert run_job(jobs["stallscope"], tmp_path, build) == []


def test_the_job_fails_where_the_tool_cannot_run(jobs, build, tmp_path):
    (tmp_path / "stallscope.yml").write_text("rules: [\n")
    with pytest.raises(AssertionError):
        run_job(jobs["stallscope"], tmp_path, build)
