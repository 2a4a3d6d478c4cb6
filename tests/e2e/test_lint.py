"""Living with `stallscope lint`: fixes, comments, project files, notebooks, revisions, bad input."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import TOOL

TRAIN = """import torch

torch.autograd.set_detect_anomaly(True)


class Net(torch.nn.Module):
    def forward(self, x):
        mask = torch.zeros(x.shape[0]).to(x.device)
        return x * mask


def train(model, loader, optimizer, device):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
"""


@pytest.fixture
def project(tmp_path):
    """A project of one file, train.py."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def lint(tool, folder, *args, check=None, stdin=None):
    """Findings as (rule, file, line)."""
    done = tool("lint", *args, "--format", "json", "--no-cache", cwd=folder, check=check, stdin=stdin)
    report = json.loads(done.stdout)
    return [(f["ruleId"], f["locations"][0]["file"], f["locations"][0]["line"])
            for f in report["findings"]]


def rules(found):
    return {rule for rule, _, _ in found}


def git(folder, *args):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *args], cwd=folder,
                   check=True, capture_output=True)


def test_advice_is_one_finding_with_all_its_places(tool, tmp_path):
    (tmp_path / ".git").mkdir()
    loader = "import torch\nfrom torch.utils.data import DataLoader\ndevice = 'cuda'\n\n\n" \
             "def loader_of(data):\n    return DataLoader(data, batch_size=8, num_workers=2)\n"
    (tmp_path / "a.py").write_text(loader)
    (tmp_path / "b.py").write_text(loader)
    arguments = ("lint", "--select", "loader-no-pin", "--no-cache")
    report = json.loads(tool(*arguments, "--format", "json", cwd=tmp_path, check=0).stdout)
    assert [[(place["file"], place["line"]) for place in finding["locations"]]
            for finding in report["findings"]] == [[("a.py", 7), ("b.py", 7)]]
    assert "also at b.py:7" in tool(*arguments, cwd=tmp_path, check=0).stdout
    # A comment accepts its own place, not the others.
    (tmp_path / "a.py").write_text(loader.replace("=2)", "=2)  # stallscope: ignore[loader-no-pin] small"))
    assert lint(tool, tmp_path, "--select", "loader-no-pin", check=0) == [("loader-no-pin", "b.py", 7)]


def test_where_a_class_allocates_is_told_with_what_makes_its_objects(tool, tmp_path):
    (tmp_path / "train.cu").write_text("""\
struct Matrix {
  explicit Matrix(int n) { cudaMalloc(&data, n); }
  ~Matrix() { cudaFree(data); }
  float* data;
};
void train() {
  for (int step = 0; step < 100; ++step) {
    Matrix x(64);
    forward(x);
    backward(x);
  }
}
""")
    arguments = ["lint", ".", "--libclang", "off", "--exit-zero", "--no-cache"]
    assert "also at train.cu:2, train.cu:3" in tool(*arguments, cwd=tmp_path).stdout
    findings = json.loads(tool(*arguments, "--format", "json", cwd=tmp_path).stdout)["findings"]
    finding, = [f for f in findings if f["ruleId"] == "device-alloc-in-loop"]
    assert [place["line"] for place in finding["locations"]] == [8, 2, 3]



def test_fixes_are_made_and_shown_first(tool, project):
    before = rules(lint(tool, project, check=1))
    assert {"zero-grad-not-none", "detect-anomaly", "create-then-move", "item-in-step"} <= before
    shown = tool("lint", "--fix", "--unsafe-fixes", "--dry-run", "--no-cache", cwd=project, check=1)
    assert (project / "train.py").read_text() == TRAIN
    patched = subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=shown.stdout,
                             text=True, cwd=project, capture_output=True)
    assert patched.returncode == 0, patched.stderr + shown.stdout
    by_patch = (project / "train.py").read_text()
    (project / "train.py").write_text(TRAIN)
    (project / "train.py").rename(project / "elsewhere")
    (project / "train.py").symlink_to(project / "elsewhere")
    (project / "elsewhere").chmod(0o755)
    tool("lint", "--fix", "--unsafe-fixes", "--no-cache", cwd=project, check=1)
    assert (project / "train.py").is_symlink() and (project / "elsewhere").stat().st_mode & 0o777 == 0o755
    text = (project / "train.py").read_text()
    assert text == by_patch
    compile(text, "train.py", "exec")
    assert "set_detect_anomaly" not in text
    assert "optimizer.zero_grad()" in text
    assert "torch.zeros(x.shape[0], device=x.device)" in text
    after = rules(lint(tool, project, check=1))
    assert "item-in-step" in after
    assert not after & {"zero-grad-not-none", "detect-anomaly", "create-then-move"}
    assert "0 findings" in tool("lint", "--fix", "--unsafe-fixes", "--no-cache", cwd=project, check=1).stderr


def test_add_ignore_accepts_all_there_is(tool, project):
    (project / "kernel.cpp").write_text(
        "#include <torch/torch.h>\n"
        "void train(Net& net, torch::optim::Adam& optimizer, Loader& loader) {\n"
        "  double total = 0;\n"
        "  for (auto& batch : *loader) {\n"
        "    auto loss = net->forward(batch.data);\n"
        "    loss.backward();\n"
        "    optimizer.step();\n"
        "    total += loss.item<float>();\n"
        "  }\n"
        "}\n")
    found = lint(tool, project, check=1)
    assert {file for _, file, _ in found} == {"train.py", "kernel.cpp"}
    tool("lint", "--add-ignore", "--no-cache", cwd=project, check=0)
    assert lint(tool, project, check=0) == []
    assert "# stallscope: ignore[item-in-step]" in (project / "train.py").read_text()
    assert "// stallscope: ignore[" in (project / "kernel.cpp").read_text()
    compile((project / "train.py").read_text(), "train.py", "exec")
    again = tool("lint", "--no-cache", cwd=project, check=0)
    assert "is not needed" not in again.stderr


def test_settings_in_pyproject(tool, project):
    (project / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[tool.stallscope]\nignore = ["item-in-step"]\n'
        'severities = {zero-grad-not-none = "critical"}\n')
    found = rules(lint(tool, project, check=1))
    assert "zero-grad-not-none" in found and "item-in-step" not in found
    (project / "pyproject.toml").write_text('[tool.stallscope]\n\nignroe = ["item-in-step"]\n')
    done = tool("lint", "--no-cache", cwd=project, check=2)
    assert "pyproject.toml:3" in done.stderr and "ignore" in done.stderr
    (project / "pyproject.toml").write_text('[tool.stallscope]\nignore = [\n')
    assert "TOML" in tool("lint", "--no-cache", cwd=project, check=2).stderr
    # Beside a stallscope.yml, that one speaks.
    (project / "stallscope.yml").write_text("ignore: [zero-grad-not-none]\n")
    assert "zero-grad-not-none" not in rules(lint(tool, project, check=1))


def test_notebook_places_are_cells(tool, project):
    cells = [{"cell_type": "markdown", "source": ["# title\n"]},
             {"cell_type": "code", "source": ["import torch\n", "%matplotlib inline\n"]},
             {"cell_type": "code",
              "source": ["for x, y in loader:\n", "    loss = model(x)\n", "    loss.backward()\n",
                         "    optimizer.step()\n", "    total += loss.item()\n"]},
             {"cell_type": "code",
              "source": ["for x, y in loader:\n", "    loss = model(x)\n", "    loss.backward()\n",
                         "    optimizer.step()\n",
                         "    total += loss.item()  # stallscope: ignore[item-in-step]\n",
                         "x = 1  # stallscope: ignore[explicit-sync]\n", "y = 1  # stallscope: ignroe[x]\n"]}]
    (project / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    found = [f for f in lint(tool, project, "nb.ipynb", check=1) if f[0] == "item-in-step"]
    assert found == [("item-in-step", "nb.ipynb", 5)]
    shown = tool("lint", "nb.ipynb", "--no-cache", cwd=project, check=1)
    assert "nb.ipynb:cell 3:5" in shown.stdout
    assert "total += loss.item()" in shown.stdout
    assert "nb.ipynb:cell 4:6: this suppression of explicit-sync is not needed" in shown.stderr
    assert "nb.ipynb:cell 4:7: unknown directive 'ignroe'" in shown.stderr


def test_diff_reports_lines_whose_context_changed(tool, project):
    (project / ".git").rmdir()
    (project / "train.py").write_text(
        "import torch\n\n\ndef log(loss):\n    print(loss.detach().item())\n\n\n"
        "def report(loss):\n    log(loss)\n\n\n"
        "def train(model, loader, optimizer):\n    for x in loader:\n        loss = model(x)\n"
        "        loss.backward()\n        optimizer.step()\n    report(loss)\n")
    (project / "old.py").write_text(TRAIN)
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "one")
    assert lint(tool, project, "--diff", "HEAD", check=0) == []
    text = (project / "train.py").read_text()
    (project / "train.py").write_text(text.replace("\n    report(loss)\n", "\n        report(loss)\n"))
    found = lint(tool, project, "--diff", "HEAD", check=1)
    # line 5 did not change; what calls it did
    assert ("item-in-step", "train.py", 5) in found
    assert {file for _, file, _ in found} == {"train.py"}
    done = tool("lint", "--diff", "no-such-revision", "--no-cache", cwd=project, check=2)
    assert "--diff" in done.stderr


def test_output_does_not_depend_on_threads(tool, source, tmp_path):
    outputs = set()
    shutil.copytree(source / "rules", tmp_path / "rules")
    (tmp_path / ".git").mkdir()
    for cpus in ({0}, os.sched_getaffinity(0)):
        for _ in range(2):
            done = subprocess.run(
                ["taskset", "-c", ",".join(map(str, cpus)), os.environ.get(
                    "STALLSCOPE", source / "build/release/stallscope"), "lint", "rules",
                 "--no-cache", "--format", "json", "--exit-zero"],
                capture_output=True, text=True, cwd=tmp_path, check=True)
            outputs.add(done.stdout)
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["findings"]


def test_the_cache_changes_nothing(tool, project):
    def run():
        return tool("lint", "--format", "json", cwd=project, check=1).stdout
    cold, warm = run(), run()
    assert cold == warm
    for entry in (project / ".stallscope-cache").iterdir():
        if not entry.name.startswith("."):
            entry.write_bytes(entry.read_bytes()[: entry.stat().st_size // 2])
    assert run() == cold


def test_comments_that_accept_nothing_are_named(tool, project):
    (project / "train.py").write_text(
        TRAIN + "x = 1  # stallscope: ignore[item-in-step]\n"
                "y = 1  # stallscope: ignore[no-such-rule]\n"
                "z = 1  # stallscope: ignore[unsynchronised-gc] seen in runs only\n")
    said = tool("lint", "--no-cache", "--exit-zero", cwd=project).stderr
    assert "train.py:21: this suppression of item-in-step" in said
    assert "train.py:22: there is no rule 'no-such-rule'" in said
    assert "unsynchronised-gc" not in said
    said = tool("lint", "--no-cache", "--exit-zero", "--select", "explicit-sync", cwd=project).stderr
    assert "item-in-step" not in said


STEP = "def train(m, loader, opt):\n    for x in loader:\n        loss = m(x)\n        loss.backward()\n" \
       "        opt.step()\n        print(loss.item())\n"

BAD_FILES = {
    "latin1.py": b"# -*- coding: latin-1 -*-\nimport torch\nname = 'caf\xe9'\n" + STEP.encode(),
    "bom.py": b"\xef\xbb\xbfimport torch\n" + STEP.encode(),
    "nul.py": b"import torch\nx = '\x00'\n" + STEP.encode(),
    "python2.py": b"import torch\nprint 'x'\nexec 'y' in z\n" + STEP.encode(),
    "tabs.py": b"import torch\n" + STEP.replace("    ", "\t").encode(),
    "mixed_ends.py": b"import torch\r\n" + STEP.replace("\n", "\r\n").encode(),
    "broken.py": b"import torch\ndef f(x:\n    return (\n\n" + STEP.encode(),
    "nested.py": b"import torch\nx = " + b"(" * 10000 + b"1" + b")" * 10000 + b"\n" + STEP.encode(),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_findings_come_from_bad_files_too(tool, tmp_path, name):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_bytes(BAD_FILES[name])
    found = lint(tool, tmp_path, check=1)
    line = BAD_FILES[name].split(b"\n").index(
        next(l for l in BAD_FILES[name].split(b"\n") if b"loss.item()" in l)) + 1
    assert any(place == line for _, _, place in found), found


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "junit", "github", "gitlab"])
def test_files_that_are_not_read_are_named_in_every_format(tool, project, form):
    (project / "wide.py").write_bytes(TRAIN.encode("utf-16"))
    (project / "cut.ipynb").write_text('{"cells": [')
    done = tool("lint", "--format", form, "--no-cache", cwd=project, check=1)
    assert "wide.py: is not read: UTF-16" in done.stderr
    assert "cut.ipynb: is no notebook that can be read" in done.stderr
    # where a format has a place for them, they stand there too
    assert ("is not read" in done.stdout) == (form in ("markdown", "sarif"))


def test_a_conflict_costs_no_findings_and_is_named(tool, project):
    step = "        loss.backward()\n"
    (project / "train.py").write_text(TRAIN.replace(
        step, f"<<<<<<< HEAD\n{step}=======\n{step}{step}>>>>>>> other\n"))
    done = tool("lint", "--no-cache", cwd=project, check=1)
    assert "train.py: line 17 begins a conflict" in done.stderr
    assert "item-in-step" in done.stdout


def test_what_proves_a_context_is_placed_as_the_finding_is(tool, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "train.py").write_text(TRAIN)
    cells = [TRAIN[:TRAIN.index("def train")], TRAIN[TRAIN.index("def train"):]]
    (tmp_path / "folder" / "a.ipynb").write_text(json.dumps({"cells": [
        {"cell_type": "code", "source": cell} for cell in cells]}))
    shown = tool("lint", "folder", "--select", "item-in-step", "--no-cache", cwd=tmp_path, check=1).stdout
    assert "in the loop at folder/train.py:14" in shown
    assert "in the loop at folder/a.ipynb:cell 2:3" in shown


@pytest.mark.parametrize("size", ["-1", "0", "99999999999999999999", "17592186044416"])
def test_sizes_that_no_file_has_are_refused(tool, project, size):
    assert "--max-file-size" in tool("lint", "--max-file-size", size, cwd=project, check=2).stderr


def test_large_files_are_skipped_with_a_note(tool, project):
    line = "x = torch.zeros(1)\n"
    (project / "generated.py").write_text("import torch\n" + line * (10_000_000 // len(line)))
    done = tool("lint", "generated.py", "--no-cache", cwd=project, check=0)
    assert "generated.py" in done.stderr and "--max-file-size" in done.stderr
    (project / "generated.py").write_text("import torch\n" + line * (1_200_000 // len(line)))
    done = tool("lint", "generated.py", "--no-cache", "--max-file-size", "1", cwd=project, check=0)
    assert "larger than 1 MB" in done.stderr


def test_large_files_are_not_read_to_know_it(project):
    with open(project / "sparse.py", "w") as out:
        out.truncate(900 << 20)
    (project / "zero.py").symlink_to("/dev/zero")
    for path, why in (("sparse.py", "larger than"), ("zero.py", "is no source file")):
        done = subprocess.run(f"ulimit -v {700 << 10}; exec {TOOL} lint {path} --no-cache", shell=True, cwd=project,
                              capture_output=True, text=True, timeout=60)
        assert why in done.stderr, done


def test_links_that_lead_back_and_imports_in_circles(tool, project):
    (project / "loop").symlink_to(project)
    (project / "dangling.py").symlink_to(project / "nowhere.py")
    (project / "a.py").write_text("import torch\nimport b\n\n\ndef f(x):\n    return b.g(x)\n")
    (project / "b.py").write_text("import torch\nimport a\n\n\ndef g(x):\n    return a.f(x).item()\n")
    found = lint(tool, project, check=1)
    assert ("item-in-step", "train.py", 19) in found


def test_a_file_that_changes_while_it_is_read(tool, project):
    target = project / "moving.py"
    target.write_text("import torch\n" + STEP * 200)
    writer = subprocess.Popen(
        ["python3", "-c", "import os, sys\nf = open(sys.argv[1], 'r+')\n"
         "while True:\n    f.truncate(100)\n    f.seek(0)\n    f.write('import torch\\n' + 'x = (\\n' * 2000)\n"
         "    f.flush()\n", str(target)])
    try:
        for _ in range(10):
            assert tool("lint", "--no-cache", cwd=project, check=None).returncode in (0, 1)
    finally:
        writer.kill()
        writer.wait()


def test_rule_pages_are_written(tool, tmp_path):
    tool("rules", "docs", tmp_path / "docs")
    pages = {page.stem for page in (tmp_path / "docs").glob("*.md")} - {"index"}
    listed = json.loads(tool("rules", "list", "--format", "json").stdout)["rules"]
    assert pages == {rule["id"] for rule in listed}
    page = (tmp_path / "docs/item-in-step.md").read_text()
    assert "```python" in page and "ignore[item-in-step]" in page


def test_a_new_rule_that_takes_a_bundled_ones_place_is_told(tool, project):
    done = tool("rules", "new", "my-rule", "--dir", "mine", cwd=project)
    assert "mine/my-rule.yaml" in done.stdout and "bundled" not in done.stderr
    assert tool("rules", "test", "mine", cwd=project).stdout.startswith("1 rule, 2 cases: 0 failed")
    assert "replaces" not in tool("lint", "--rules", "mine", "--no-cache", cwd=project, check=1).stderr
    assert "'item-in-step' is a bundled rule" in tool("rules", "new", "item-in-step", "mine", cwd=project).stderr
    shown = tool("lint", "--rules", "mine", "--no-cache", cwd=project, check=1)
    assert "mine/item-in-step.yaml replaces a rule that looks at source" in shown.stderr
    assert "item-in-step" not in shown.stdout


def test_a_new_file_in_a_new_folder(tool, project):
    done = tool("lint", "--stdin-filename", "new/deep/b.py", "--format", "json", "--no-cache", cwd=project,
                check=1, stdin=TRAIN)
    assert {f["locations"][0]["file"] for f in json.loads(done.stdout)["findings"]} == {"new/deep/b.py"}
    assert not (project / "new").exists()


def test_the_pre_commit_hook(tool, project, source):
    """As pre-commit runs it: the files named, from the repository's root."""
    text = (source / ".pre-commit-hooks.yaml").read_text()
    entry = next(line.split(":", 1)[1].split() for line in text.splitlines()
                 if line.strip().startswith("entry:"))
    assert entry[0] == "stallscope"
    (project / "clean.py").write_text("import torch\n")
    tool(*entry[1:], "clean.py", cwd=project, check=0)
    assert "train.py:19" in tool(*entry[1:], "clean.py", "train.py", cwd=project, check=1).stdout


def test_launch_scripts_and_configuration_files(tool, project):
    (project / "launch.sh").write_text("#!/bin/bash\nexport CUDA_LAUNCH_BLOCKING=1\n"
                                       "torchrun train.py --num-workers 0\n")
    (project / "ds_config.json").write_text('{"zero_optimization": {"stage": 2,\n'
                                            ' "overlap_comm": false}}\n')
    (project / "values.yaml").write_text("env:\n  - name: NCCL_DEBUG\n    value: TRACE"
                                         "  # stallscope: ignore[debug-environment] a drill\n")
    (project / "debug.sh").write_text("export CUDA_LAUNCH_BLOCKING=1\n")
    (project / "large.json").write_text('{"overlap_comm": false, "x": "' + "y" * (1 << 20) + '"}')
    (project / "broken.json").write_text('{"zero_optimization": {"overlap_comm": "\x00')
    found = [f for f in lint(tool, project, check=1) if not f[1].endswith(".py")]
    assert sorted(found) == [("blocking-collective", "ds_config.json", 2),
                             ("debug-environment", "launch.sh", 2),
                             ("loader-no-workers", "launch.sh", 3)]


def test_findings_are_counted_against_step_code(tool, project):
    report = json.loads(tool("lint", "--format", "json", "--no-cache", cwd=project, check=1).stdout)
    forward = TRAIN[TRAIN.index("    def forward"):TRAIN.index("\n\n\ndef train")].count("\n") + 1
    loop = TRAIN[TRAIN.index("    for x"):TRAIN.index("    return total")].count("\n")
    assert report["stepLines"] == forward + loop


def test_the_steps_of_the_action_annotate_a_pull_request(build, project):
    action = (pathlib.Path(__file__).parents[2] / "action.yml").read_text()
    here = project / "action"
    (here / "build").mkdir(parents=True)
    (here / "build/release").symlink_to(build)  # as the cache brings it back
    git(project, "init", "-q")
    git(project, "add", "train.py")
    git(project, "commit", "-qm", "base")
    git(project, "branch", "base")
    (project / "train.py").write_text(TRAIN.replace("    return total", "        print(loss)\n    return total"))
    steps = re.findall(r"^      run: '(.*)'$", action, re.MULTILINE)[1:]  # the first names the cache
    assert len(steps) == 2 and steps[1].count("$PATHS") == steps[1].count("$ARGUMENTS") == 1
    shown = []
    for step in steps:
        env = {**os.environ, "GITHUB_ACTION_PATH": str(here), "PATHS": "train.py",
               "ARGUMENTS": "--diff base --fail-on low"}
        shown.append(subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step],
                                    cwd=project, env=env, capture_output=True, text=True, check=False))
    assert shown[0].returncode == 0, shown[0].stderr
    assert shown[1].returncode == 1, shown[1].stderr
    lines = shown[1].stdout.splitlines()
    assert lines and all(line.startswith("::") and "file=train.py" in line for line in lines), lines
    assert any(f"line={TRAIN.count(chr(10))}" in line for line in lines), lines


def test_a_copy_in_the_step_fails_a_run_and_one_in_a_layer_does_not(tool, tmp_path):
    (tmp_path / "t.py").write_text("""import torch


class Net(torch.nn.Module):
    def forward(self, x):
        self.seen.append(x.cpu())
        return self.head(x)


def train(model, loader, optimizer, history):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        history.append(loss.detach().cpu())
""", encoding="utf-8")
    report = json.loads(tool("lint", "t.py", "--format", "json", "--no-cache", cwd=tmp_path, check=1).stdout)
    found = {f["locations"][0]["line"]: f["severity"] for f in report["findings"]
             if f["ruleId"] == "device-to-host-in-step"}
    assert found == {6: "low", 15: "high"}
    # What is less than asked for is left out, of the exit code too, and of no baseline.
    shown = tool("lint", "t.py", "--min-severity", "high", "--no-cache", cwd=tmp_path, check=1)
    assert "t.py:15:" in shown.stdout and "t.py:6:" not in shown.stdout
    assert re.search(r"; \d+ below high left out", shown.stderr), shown.stderr
    (tmp_path / "stallscope.yml").write_text("min-severity: critical\n")
    quiet = tool("lint", "t.py", "--fail-on", "info", "--no-cache", cwd=tmp_path)
    assert quiet.stdout == "" and "no findings in 1 file; " in quiet.stderr
    tool("lint", "t.py", "--baseline", "b.json", "--update-baseline", "--no-cache", cwd=tmp_path)
    (tmp_path / "stallscope.yml").unlink()
    tool("lint", "t.py", "--baseline", "b.json", "--fail-on", "info", "--no-cache", cwd=tmp_path)
