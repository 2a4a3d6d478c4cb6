"""A thread that computes in Python beside the step: the step waits for the lock, and the finding names the
thread's line. In a process of its own it takes nothing from the step."""
import json

import pytest

from python_packages import interpreters

pytestmark = pytest.mark.timed

PROGRAM = """
import multiprocessing, sys, threading, time

def histogram(values):
    counts = {}
    for value in values:
        counts[value & 7] = counts.get(value & 7, 0) + 1  # mark: busy
    return counts

def watch(stop):
    while not stop.is_set():
        histogram(range(20000))

def step():
    total = 0
    for i in range(20):
        time.sleep(0.0001)
        total += sum(range(200))
    return total

if __name__ == "__main__":
    kind = threading.Thread if sys.argv[1] == "thread" else multiprocessing.get_context("spawn").Process
    stop = (threading if sys.argv[1] == "thread" else multiprocessing.get_context("spawn")).Event()
    other = kind(target=watch, args=(stop,))
    other.start()
    from nvtx_ranges import push, pop
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        push()
        step()
        pop()
    stop.set()
    other.join()
"""

# NVTX as a C program has it, for an interpreter without packages.
RANGES = """
import ctypes
library = ctypes.CDLL(LIBRARY)
def push():
    library.begin_step()
def pop():
    library.end_step()
"""
SOURCE = """
#include <nvtx3/nvToolsExt.h>
void begin_step(void) { nvtxRangePushA("step"); }
void end_step(void) { nvtxRangePop(); }
"""


@pytest.fixture
def program(tmp_path, compile_c):
    library = compile_c("ranges.so", SOURCE, "-shared", "-fPIC")
    (tmp_path / "nvtx_ranges.py").write_text(RANGES.replace("LIBRARY", repr(str(library))))
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def findings(report):
    return [finding for finding in report["findings"] if finding["ruleId"] == "lock-wait"]


PYTHONS = [pytest.param(path, id="%d.%d" % version) for version, path in interpreters().items()][::2]


@pytest.mark.parametrize("python", PYTHONS)
def test_a_busy_thread_is_named(tool, program, tmp_path, python):
    out = tmp_path / "out"
    tool("run", "-q", "-o", out, "--", python, program, "thread")
    events = [json.loads(line) for line in tool("dump", out, "--kind", "sample").stdout.splitlines()]
    waits = [event for event in events if event["detail"] == "lock-wait" and event["tid"] == event["pid"]]
    others = {event["tid"] for event in events if event["pid"] == waits[0]["pid"]} - {waits[0]["pid"]}
    assert {event["payload"]["wakerTid"] for event in waits if "payload" in event} <= others
    places = [finding["locations"][0] for finding in findings(tool.report(out))]
    place = next(place for place in places if place["function"].endswith("histogram"))
    first = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if text.startswith("def histogram"))
    assert place["file"].endswith("train.py")
    assert first <= place["line"] <= first + 4


def test_a_busy_process_takes_nothing(tool, program, tmp_path):
    out = tmp_path / "out"
    tool("run", "-q", "-o", out, "--", "python3", program, "process")
    events = [json.loads(line) for line in tool("dump", out, "--kind", "sample").stdout.splitlines()]
    assert any("histogram" in json.dumps(event["stack"]) for event in events)
    assert findings(tool.report(out)) == []
