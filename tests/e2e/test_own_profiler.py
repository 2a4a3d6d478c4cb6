"""A program that profiles itself with torch.profiler: its profile stays whole, the window is a hole
of ours, and what it exported fills the hole."""
import gzip
import json

import pytest

from python_packages import python_with

TRAIN = """
import torch
from torch.profiler import profile, schedule, ProfilerActivity, EXPORT
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def step():
    optimizer.zero_grad()
    model(torch.ones(32, 64)).square().mean().backward()
    optimizer.step()
for _ in range(30):
    step()
SAVE
for _ in range(30):
    step()
"""
DIRECT = """
with profile(activities=[ProfilerActivity.CPU]) as prof:
    for _ in range(5):
        step()
        prof.step()
prof.export_chrome_trace("mine.json.gz")
"""
SCHEDULED = """
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3, repeat=1),
             on_trace_ready=tensorboard_trace_handler("log")) as prof:
    for _ in range(8):
        step()
        prof.step()
"""


def run(tool, tmp_path, save, *options):
    program, out = tmp_path / "train.py", tmp_path / "out"
    export = "tensorboard_trace_handler" if "tensorboard" in save else "ProfilerAction"
    program.write_text(TRAIN.replace("EXPORT", export).replace("SAVE", save))
    tool("run", "-q", "--force", "-o", out, *options, "--", python_with("torch"), program, cwd=tmp_path)
    return out, tool.report(out)


@pytest.mark.parametrize("save", [DIRECT, SCHEDULED], ids=["direct", "scheduled"])
def test_the_window_is_a_hole_that_the_programs_profile_fills(tool, tmp_path, save):
    out, report = run(tool, tmp_path, save)
    hole, = report["trust"]["holes"]
    assert "profiler of the program's own" in hole["reason"] and hole["durationNs"] > 0
    # Steps that touch it are counted, and not used.
    rank, = [rank for rank in report["ranks"] if rank["stepMarker"]]
    assert rank["stepMarker"] == "optimizer.step"
    assert rank["discarded"]["captureHole"] >= (5 if save == DIRECT else 3)
    assert rank["stepsUsed"] >= 30
    # What the program saved is untouched, and its operators are in our trace, in the hole.
    saved, = [*tmp_path.glob("mine.json.gz"), *tmp_path.glob("log/*.pt.trace.json")]
    text = gzip.open(saved, "rt").read() if saved.suffix == ".gz" else saved.read_text()
    written = [e for e in json.loads(text)["traceEvents"] if e.get("cat") == "cpu_op" and e["name"] == "aten::addmm"]
    events = [json.loads(line) for line in tool("dump", out, "--kind", "range").stdout.splitlines()]
    operators = [e for e in events if e["name"] == "aten::addmm"]
    assert len(operators) == len(written) > 0
    slack = 2_000_000
    for event in operators:
        assert hole["startNs"] - slack <= event["startNs"]
        assert event["startNs"] + event["durationNs"] <= hole["startNs"] + hole["durationNs"] + slack
    assert any("fills the hole" in warning for warning in report["warnings"])


def test_without_annotation_nothing_is_taken_twice(tool, tmp_path):
    out, report = run(tool, tmp_path, DIRECT, "--annotate", "off")
    assert report["trust"]["holes"] == []
    assert "aten::addmm" not in tool("dump", out, "--kind", "range").stdout
