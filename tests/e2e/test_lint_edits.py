"""What `stallscope lint` writes into files: comments where they can stand, and fixes as they were shown."""
import json
import subprocess

import pytest
import yaml

HEAD = """import torch


def train(model, loader, opt):
    total = 0
    for x, y in loader:
        loss = model(x)
        loss.backward()
        opt.step()
"""

# by what is special: lines in the loop, and what --add-ignore makes of them
COMMENT = "# stallscope: ignore[item-in-step]"
PLACES = {
    "one line": (["a = loss.item()"], ["a = loss.item()  " + COMMENT]),
    "another tool's comment": (["a = loss.item()  # type: ignore"], ["a = loss.item()  # type: ignore  " + COMMENT]),
    "a continued statement": (["total = total + \\", "    loss.item() + \\", "    1"],
                              [COMMENT, "total = total + \\", "    loss.item() + \\", "    1"]),
    "a continued condition": (["if x and \\", "        loss.item():", "    pass"],
                              [COMMENT, "if x and \\", "        loss.item():", "    pass"]),
    "a continued with": (["with open(x), \\", "        open(str(loss.item())):", "    pass"],
                         [COMMENT, "with open(x), \\", "        open(str(loss.item())):", "    pass"]),
    "a text of many lines": (['a = f"""', "  {loss.item()}", '"""'], [COMMENT, 'a = f"""', "  {loss.item()}", '"""']),
    "a text of one line": (['a = f"{loss.item()}#"'], ['a = f"{loss.item()}#"  ' + COMMENT]),
    "parentheses": (["print(1,", "      loss.item(),", "      2)"],
                    ["print(1,", "      loss.item(),  " + COMMENT, "      2)"]),
    "parentheses with a text": (['print("""', '  """, loss.item())'], [COMMENT, 'print("""', '  """, loss.item())']),
}


@pytest.fixture
def project(tmp_path):
    (tmp_path / ".git").mkdir()
    return tmp_path


def loop(lines):
    return HEAD + "".join(line if line.startswith('"""') else "        " + line for line in
                          (line + "\n" for line in lines))


def lint(tool, folder, *args, check=None):
    return tool("lint", *args, "--no-cache", cwd=folder, check=check)


def lines_of(done):
    return [finding["locations"][0]["line"] for finding in json.loads(done.stdout)["findings"]]


@pytest.mark.parametrize("what", PLACES)
def test_comments_stand_where_python_takes_them(tool, project, what):
    before, after = PLACES[what]
    (project / "train.py").write_text(loop(before))
    lint(tool, project, check=1)
    lint(tool, project, "--add-ignore", check=0)
    text = (project / "train.py").read_text()
    assert text == loop(after)
    compile(text, "train.py", "exec")
    assert "is not needed" not in lint(tool, project, check=0).stderr


def test_a_comment_between_continued_lines_accepts_nothing(tool, project):
    (project / "train.py").write_text(loop(["total = total + \\", "    " + COMMENT, "    loss.item()"]))
    assert "train.py:11: this suppression of item-in-step is not needed" in lint(tool, project, check=1).stderr


SCRIPT = "#!/bin/bash\nexport CUDA_LAUNCH_BLOCKING=1\ntorchrun train.py \\\n  --num-workers 0 \\\n  --lr 1\n"
CONFIG = {
    "go" + ending: (SCRIPT, SCRIPT.replace("=1\n", "=1  # stallscope: ignore[debug-environment]\n")
                    .replace("torchrun", "# stallscope: ignore[loader-no-workers]\ntorchrun"))
    for ending in (".sh", ".bash", ".slurm", ".sbatch")
} | {
    "lightning.yaml": ("ddp_backend: c10d\nfind_unused_parameters: true\n",
                       "ddp_backend: c10d\nfind_unused_parameters: true"
                       "  # stallscope: ignore[find-unused-parameters]\n"),
    "job.yml": ("- run: |\n    a\n    train --num-workers 0\n- b: 1\n",
                "# stallscope: ignore[loader-no-workers]\n- run: |\n    a\n    train --num-workers 0\n- b: 1\n"),
    "windows.sh": ("a\r\ntrain \\\r\n  --num-workers 0\r\n",
                   "a\r\n# stallscope: ignore[loader-no-workers]\r\ntrain \\\r\n  --num-workers 0\r\n"),
}


@pytest.mark.parametrize("name", CONFIG)
def test_scripts_and_configuration_take_comments_of_their_own(tool, project, name):
    before, after = CONFIG[name]
    (project / name).write_bytes(before.encode())
    assert lines_of(lint(tool, project, "--format", "json"))
    lint(tool, project, "--add-ignore", check=0)
    text = (project / name).read_bytes().decode()
    assert text == after
    if name.endswith("ml"):
        assert yaml.safe_load(text) == yaml.safe_load(before)
    else:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    assert "is not needed" not in lint(tool, project, check=0).stderr


def test_json_takes_no_comment(tool, project):
    text = '{"zero_optimization": {"overlap_comm": false}}\n'
    (project / "ds.json").write_text(text)
    done = lint(tool, project, "--add-ignore", "--format", "json", check=1)
    assert (project / "ds.json").read_text() == text
    assert "no comment can stand where 1 finding is: --baseline" in done.stderr
    assert lines_of(done) == [1]


FIXABLE = """import torch

torch.autograd.set_detect_anomaly(True)


def train(model, loader, opt, device):
    for x, y in loader:
        opt.zero_grad(set_to_none=False)
        before = [p.grad.clone() for p in model.parameters()]
        k = torch.zeros(3).to(device); l = torch.ones(3).to(device); m = torch.eye(3).to(device)
        n = torch.full((2,), torch.ones(2).to(device).numel()).to(device)
        loss = model(x, y, k, l, m, n, before)
        loss.backward()
        opt.step()
        print(loss.item())
"""


@pytest.mark.parametrize("more, fixed", [([], 5), (["--unsafe-fixes"], 7)])
def test_what_is_shown_is_what_is_done(tool, project, more, fixed):
    (project / "train.py").write_text(FIXABLE)
    shown = lint(tool, project, "--fix", "--dry-run", *more, check=1)
    assert f"{fixed} findings can be fixed" in shown.stderr
    assert (project / "train.py").read_text() == FIXABLE
    subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=shown.stdout, text=True, cwd=project, check=True)
    by_patch = (project / "train.py").read_text()
    (project / "train.py").write_text(FIXABLE)
    assert f"fixed {fixed} findings" in lint(tool, project, "--fix", *more, check=1).stderr
    text = (project / "train.py").read_text()
    assert text == by_patch
    compile(text, "train.py", "exec")
    assert ".to(device)" not in text
    # .grad is read behind it, and a NaN stops the program: not for --fix to decide
    assert ("set_to_none=False" in text) == ("set_detect_anomaly" in text) == (not more)
    assert ("--unsafe-fixes would change 2 further lines" in shown.stderr) == (not more)


def test_fix_and_add_ignore_report_what_is_left(tool, project):
    (project / "train.py").write_text(FIXABLE)
    (project / "ds.json").write_text('{"zero_optimization": {"overlap_comm": false}}\n')
    done = lint(tool, project, "--fix", "--add-ignore", "--format", "json", check=1)
    assert "fixed 5 findings" in done.stderr and "added comments" in done.stderr
    assert [f["ruleId"] for f in json.loads(done.stdout)["findings"]] == ["blocking-collective"]
    assert COMMENT in (project / "train.py").read_text()
