"""Python stacks sampled from outside, on every interpreter of this machine."""
import collections
import json

import pytest

from python_packages import interpreters

pytestmark = pytest.mark.timed

# The lines that the test expects carry their own mark.
PROGRAM = '''
import sys, threading, time

def inner(n):
    s = 0
    for i in range(n):
        s += i * i
    return s

def outer(n):
    return inner(n)  # mark: outer

class Klass:
    def m\u00e9thode(self):
        end = time.process_time() + 0.5
        while time.process_time() < end:
            outer(20000)  # mark: method

busy = True
def sleeper():
    while busy:
        time.sleep(0.05)  # mark: sleeper

thread = threading.Thread(target=sleeper)
thread.start()
Klass().m\u00e9thode()  # mark: module
busy = False
thread.join()
print("loss 0.25")
'''


PYTHONS = [pytest.param(path, id="%d.%d" % version) for version, path in interpreters().items()]


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def marked_lines():
    return {line.split("# mark: ")[1]: number
            for number, line in enumerate(PROGRAM.splitlines(), 1) if "# mark: " in line}


def frames_of(event):
    """(function, line) of each frame, innermost first."""
    frames = []
    for frame in event.get("stack", []):
        if isinstance(frame, str):
            place, _, function = frame.partition(" ")
            frames.append((function, int(place.rpartition(":")[2] or 0)))
        else:
            frames.append((frame["function"], frame.get("line", 0)))
    return frames


def samples_of(tool, out):
    lines = tool("dump", str(out), "--kind", "sample").stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("python", PYTHONS)
def test_stacks_name_function_and_line(tool, program, tmp_path, python):
    out = tmp_path / "out"
    result = tool("run", "-q", "-o", str(out), "--", python, str(program))
    assert result.stdout == "loss 0.25\n"
    samples = samples_of(tool, out)
    stacks = collections.Counter(tuple(frames_of(event)) for event in samples)
    lines = marked_lines()
    main = [event for event in samples if event["tid"] == event["pid"]]
    hot = [frames_of(event) for event in main if "inner" in frames_of(event)[0][0]]
    assert len(hot) >= 5, stacks.most_common(5)
    # The program runs on while its frames are read: now and then a sample mixes two instants.
    expected = [("outer", lines["outer"]), ("m\u00e9thode", lines["method"]), ("<module>", lines["module"])]
    exact = sum([(function.split(".")[-1], line) for function, line in stack[1:]] == expected for stack in hot)
    assert exact >= 0.95 * len(hot) - 1, stacks.most_common(5)
    others = [frames_of(event) for event in samples if event["tid"] != event["pid"]]
    assert ("sleeper", lines["sleeper"]) in [stack[0] for stack in others]
    # What the samples stand for is most of the time that the program computed, and no more than it ran.
    hot_ns = sum(event["durationNs"] for event in main if "inner" in frames_of(event)[0][0])
    manifest = json.loads((out / "trace/run.json").read_text())
    assert 0.2e9 < hot_ns < manifest["durationNs"]
    assert manifest["environment"]["python"] in python or manifest["sampleRateHz"] > 0


def test_children_are_sampled_and_ranks_kept_apart(tool, program, tmp_path):
    out = tmp_path / "out"
    launcher = (f"export WORLD_SIZE=2; RANK=0 python3 {program} & "
                f"RANK=1 python3 {program} & wait")
    tool("run", "-q", "-o", str(out), "--", "sh", "-c", launcher)
    samples = samples_of(tool, out)
    assert {event["rank"] for event in samples} == {0, 1}
    assert len({event["pid"] for event in samples}) == 2


REPLACED = """
import os, sys, time
def {name}():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
{name}()
"""


def test_a_program_that_replaces_itself_is_sampled_on(tool, tmp_path):
    second = tmp_path / "second.py"
    second.write_text(REPLACED.format(name="after"))
    first = tmp_path / "first.py"
    first.write_text(REPLACED.format(name="before") + f"os.execv(sys.executable, [sys.executable, {str(second)!r}])\n")
    out = tmp_path / "out"
    tool("run", "-q", "-o", str(out), "--", "python3", str(first))
    stacks = {tuple(function for function, _ in frames_of(event)) for event in samples_of(tool, out)}
    assert {("before", "<module>"), ("after", "<module>")} <= stacks


def test_sampling_can_be_turned_off_and_stays_within_its_budget(tool, program, tmp_path):
    off, on = tmp_path / "off", tmp_path / "on"
    tool("run", "-q", "-o", str(off), "--sample-rate", "0", "--", "python3", str(program))
    assert samples_of(tool, off) == []
    tool("run", "-q", "-o", str(on), "--sample-rate", "10000", "--", "python3", str(program))
    environment = json.loads((on / "trace/run.json").read_text())["environment"]
    # 1 % of a core over about a second, and the once-only search for the interpreter.
    assert int(environment["python.sampler_cpu_ms"]) < 250
