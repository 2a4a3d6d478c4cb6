"""Lines that `stallscope run` saw run, and lines that it saw not run (CPython 3.12 and later)."""
import json

import pytest

from python_packages import interpreters

pytestmark = pytest.mark.timed

# A stand-in for torch: what is tested is which lines ran, not what they did.
TORCH = """
class Tensor:
    def __init__(self, value=0.0):
        self.value = value
    def backward(self): pass
    def item(self): return self.value
"""

TRAIN = """import sys
import torch


def rare(loss):
    return loss.item()  # mark: not run


def train(model, loader, optimizer):
    total = 0.0
    for x in loader:
        loss = model(x)
        loss.backward()
        optimizer.step()
        total += loss.item()  # mark: run
        if x > 10:
            total += rare(loss)
            print(loss.item())  # mark: not reached
    return total


class Optimizer:
    def step(self):
        pass


train(lambda x: torch.Tensor(x), range(5), Optimizer())
"""


def interpreter(fits=lambda version: version >= (3, 12)):
    return next((path for version, path in interpreters().items() if fits(version)), None)


@pytest.mark.skipif(interpreter() is None, reason="there is no CPython 3.12 or later here")
def test_a_line_that_did_not_run_is_said_not_to_have_run(tool, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "train.py").write_text(TRAIN)
    tool("run", "-o", "out", "--", interpreter(), "train.py", cwd=tmp_path, check=0)
    report = json.loads((tmp_path / "out/report.json").read_text())
    status = {(f["ruleId"], f["locations"][0]["line"]): f["status"] for f in report["findings"]
              if f["ruleId"] == "item-in-step"}
    line = {mark: TRAIN[:TRAIN.index("# mark: " + mark)].count("\n") + 1
            for mark in ("not run", "run", "not reached")}
    assert status[("item-in-step", line["run"])] == "measured"
    assert status[("item-in-step", line["not reached"])] == "not-executed"
    # The evidence is kept with the run.
    again = tool("report", "out", "--format", "json", cwd=tmp_path, check=0)
    lines = {f["locations"][0]["line"]: f["status"] for f in json.loads(again.stdout)["findings"]
             if f["ruleId"] == "item-in-step"}
    assert lines[line["not reached"]] == "not-executed"


@pytest.mark.parametrize("fits", [lambda v: v < (3, 12), lambda v: v >= (3, 12)],
                         ids=["modules", "lines"])
def test_a_script_that_was_not_loaded_weighs_less(tool, tmp_path, fits):
    python = interpreter(fits)
    if python is None:
        pytest.skip("there is no such CPython here")
    (tmp_path / ".git").mkdir()
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "other.py").write_text(TRAIN)
    (tmp_path / "elsewhere").mkdir()
    # Like a program that changes its folder: the script's own path may be relative.
    (tmp_path / "train.py").write_text(TRAIN + "\nimport os\nos.chdir('elsewhere')\n")
    tool("run", "-o", "out", "--", python, "train.py", cwd=tmp_path, check=0)
    report = json.loads((tmp_path / "out/report.json").read_text())
    other = [f for f in report["findings"] if f["locations"] and f["locations"][0]["file"].endswith("other.py")]
    assert other and all(f["status"] == "not-seen" and f["severity"] in ("low", "info") for f in other)
    assert all("had loaded this file" in f["message"] for f in other)
    own = [f for f in report["findings"] if f["locations"] and f["locations"][0]["file"].endswith("train.py")]
    assert own and not any("had loaded this file" in f["message"] for f in own)
