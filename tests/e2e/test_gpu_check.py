"""scripts/gpu-check.sh where there is no GPU: every check has a row, none is claimed."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import SOURCE, TOOL


def table(tmp_path, **settings):
    if shutil.which("nvidia-smi"):
        pytest.skip("a GPU is here: the script itself checks it")
    done = subprocess.run([sys.executable, str(SOURCE / "scripts/lib/gpu_check.py"), str(TOOL)], capture_output=True,
                          text=True, env={**os.environ, "OUT": str(tmp_path), **settings}, timeout=120)
    rows = [re.match(r"(pass|FAIL|n/a) +(.*?) +[\d.]+ s  (.*)", line) for line in done.stdout.splitlines()]
    return done, {row[2]: (row[1], row[3]) for row in rows if row}


def test_without_a_gpu_every_row_is_there_and_nothing_is_claimed(tmp_path):
    done, rows = table(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("device: no NVIDIA GPU\n")
    assert {name for name, (verdict, _) in rows.items() if verdict == "pass"} == {"doctor: what can be recorded here"}
    others = [detail for name, (verdict, detail) in rows.items() if verdict == "n/a"]
    assert len(others) == len(rows) - 1 and all(detail.startswith("not applicable: ") for detail in others)
    assert f"{len(rows)} checks in " in done.stdout and " 1 passed, 0 failed, " in done.stdout


def test_each_experiment_and_each_sample_has_a_row(tmp_path):
    _, rows = table(tmp_path)
    names = " ".join(rows)
    for sample in (SOURCE / "samples/pytorch").glob("*/stalled.py"):
        assert f"{sample.parent.name} is found at its line" in names
    for wanted in ("which records each sync, query and copy gives", "residual of the clock conversion",
                   "loss at SIGKILL against the flush interval", "libcupti.so.13 in a program of CUDA 12",
                   "forks after CUDA is up", "torch.profiler's own profile", "cost of recording: nano model, eager",
                   "cost of recording: small model, compiled", "cost of recording: small model, graph", "bit for bit",
                   "500 starts and stops", "exec", "os._exit", "out of device memory", "driver is missing", "MIG", "MPS",
                   "two processes on one GPU", "two ranks", "60 MB compressed"):
        assert wanted in names, wanted


def test_no_check_begins_when_the_time_is_over(tmp_path):
    done, rows = table(tmp_path, LIMIT_S="0")
    assert done.returncode == 0
    assert rows["doctor: what can be recorded here"] == ("n/a", "not applicable: no time left of the nine minutes")
