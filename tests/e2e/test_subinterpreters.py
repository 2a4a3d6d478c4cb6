"""Code that a thread runs in another interpreter of its process: its frames are sampled, with those of the
interpreter that it was entered from."""
import json
import textwrap

import pytest

from python_packages import interpreters

pytestmark = pytest.mark.timed

PROGRAM = """
import sys, threading, time
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters

def in_thread():
    number = made or interpreters.create()
    interpreters.run_string(number, "exec(compile(open(%r).read(), %r, 'exec'))" % (sys.argv[1], sys.argv[1]))  # mark: enter
    interpreters.destroy(number)

made = interpreters.create() if len(sys.argv) > 2 else None
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
print("done")
"""

INSIDE = """
import time

def inner(n):
    s = 0
    for i in range(n):
        s += i * i
    return s

def outer():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        inner(20000)  # mark: outer

outer()  # mark: module
"""

PYTHONS = [pytest.param(path, id="%d.%d" % version) for version, path in sorted(interpreters().items())]


def marked_lines(text):
    return {line.split("# mark: ")[1]: number
            for number, line in enumerate(text.splitlines(), 1) if "# mark: " in line}


def record(tool, tmp_path, python, *arguments):
    """Python frames of each sample whose innermost one is `inner`, with whether it is the other thread's."""
    program, inside, out = tmp_path / "program.py", tmp_path / "inside.py", tmp_path / "out"
    program.write_text(PROGRAM)
    inside.write_text(INSIDE)
    done = tool("run", "-q", "-o", out, "--", python, program, inside, *arguments)
    assert done.stdout == "done\n", textwrap.shorten(done.stderr, 500)
    samples = [json.loads(line) for line in tool("dump", out, "--kind", "sample").stdout.splitlines()]
    hot = []
    for event in samples:
        frames = [(frame["function"].split(".")[-1], frame.get("line", 0)) for frame in event["stack"]
                  if isinstance(frame, dict) and frame.get("kind") == "python"]
        if frames and frames[0][0] == "inner":
            hot.append((event["tid"] != event["pid"], frames[1:]))
    assert len(hot) >= 5, len(samples)
    return hot


@pytest.mark.parametrize("python", PYTHONS)
def test_frames_of_all_interpreters_are_seen(tool, tmp_path, python):
    hot = record(tool, tmp_path, python)
    lines, callers = marked_lines(INSIDE), marked_lines(PROGRAM)
    # The program runs on while its frames are read: now and then a sample mixes two instants.
    expected = [("outer", lines["outer"]), ("<module>", lines["module"])]
    exact = [frames for in_thread, frames in hot if in_thread and frames[:2] == expected]
    assert len(exact) >= 0.95 * len(hot) - 1, hot[:5]
    # Below them is the caller, in the interpreter that the thread came from.
    assert sum(("in_thread", callers["enter"]) in frames for frames in exact) >= 0.95 * len(exact) - 1, exact[:3]


@pytest.mark.parametrize("python", [python for version, python in zip(sorted(interpreters()), PYTHONS)
                                    if version >= (3, 13)])
def test_an_interpreter_made_elsewhere_is_its_runners(tool, tmp_path, python):
    # (Until 3.12 it has the thread state of who made it.)
    hot = record(tool, tmp_path, python, "made first")
    assert sum(in_thread for in_thread, _ in hot) >= 0.9 * len(hot) - 1, hot[:5]
