"""What `stallscope run` records of a long program: steps, times, ranges, sizes, disks that are full."""
import os
import subprocess

import pytest
from conftest import TOOL
from run_programs import build, events_of, report_of

pytestmark = pytest.mark.timed


LOOP_C = r"""
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <unistd.h>

/* COUNT steps of 5 ms named NAME, each holding "forward", every fourth within "window". */
int main(int argc, char** argv) {
  const int count = atoi(argv[1]);
  for (int i = 0; i < count; ++i) {
    if (i % 4 == 3) nvtxRangePushA("window");
    nvtxRangePushA(argv[2]);
    nvtxRangePushA("forward");
    usleep(5000);
    nvtxRangePop();
    nvtxRangePop();
    if (i % 4 == 3) nvtxRangePop();
  }
  return argc > 3 ? 3 : 0;
}
"""


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    return build(tmp_path_factory.mktemp("loop"), LOOP_C, "loop")


def count(events, name):
    return sum(1 for event in events if event["name"] == name and event["kind"] == "range")


@pytest.mark.parametrize("name, options", [
    ("step", []),
    ("## Train_Step 7 ##", []),
    ("work", ["--step-range", "work"]),
])
def test_steps_bounds_the_recording_but_not_the_program(tool, loop, tmp_path, name, options):
    out = tmp_path / "out"
    result = tool("run", "--steps", "6", *options, "-o", str(out), "--", loop, "40", name, "fail",
                  check=3)
    events = events_of(tool, out)
    # Six whole steps, and the two at the ends that no statistic uses.
    assert count(events, name) == 8
    assert count(events, "forward") == 8
    assert "recording ended after 8 steps" in result.stderr
    assert report_of(out)["summary"]["stepsUsed"] <= 6


def test_steps_without_a_marked_step_records_all_and_says_so(tool, loop, tmp_path):
    out = tmp_path / "out"
    result = tool("run", "--steps", "6", "-o", str(out), "--", loop, "20", "work")
    assert count(events_of(tool, out), "work") == 20
    assert "--steps" in result.stderr and "--step-range" in result.stderr


def test_delay_and_duration_cut_the_recording(tool, loop, tmp_path):
    out = tmp_path / "out"
    tool("run", "--delay", "0.2", "--duration", "0.2", "-o", str(out), "--", loop, "150", "step")
    kept = [event for event in events_of(tool, out) if event["name"] == "step"]
    assert 10 <= len(kept) <= 60
    span = max(e["startNs"] for e in kept) - min(e["startNs"] for e in kept)
    assert span <= 0.3e9


@pytest.mark.parametrize("marker, steps", [("optimizer.step", 8), ("epoch", 40), ("jit train_step", 40)])
def test_steps_are_counted_by_the_optimizer_only_where_nothing_marks_them(tool, tmp_path, marker, steps):
    program = build(tmp_path, r"""
#include <nvtx3/nvToolsExt.h>
int main(int argc, char** argv) {
  for (int i = 0; i < 40; ++i) {
    if (argc > 1 && i % 10 == 0) nvtxRangePushA("step");
    nvtxRangePushA(argc > 1 ? "optimizer.step" : "MARKER");
    nvtxRangePop();
    if (argc > 1 && i % 10 == 9) nvtxRangePop();
  }
}
""".replace("MARKER", marker), "optimizer")
    result = tool("run", "--steps", "6", "-o", str(tmp_path / "out"), "--", program)
    assert count(events_of(tool, tmp_path / "out"), marker) == steps
    assert ("--steps had no effect" in result.stderr) == (steps == 40)
    assert ("--step-range 'jit train_step'" in result.stderr) == (marker == "jit train_step")
    tool("run", "--steps", "6", "-o", str(tmp_path / "whole"), "--no-report", "--", program, "steps")
    assert count(events_of(tool, tmp_path / "whole"), "optimizer.step") == 40


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "-1", "5s", ""])
def test_what_is_no_number_of_seconds_is_an_error(tool, tmp_path, seconds):
    for option in ("--delay", "--duration"):
        result = tool("run", f"{option}={seconds}", "-o", str(tmp_path / "out"), "--", "true", check=2)
        assert option in result.stderr
    assert not (tmp_path / "out").exists()


STAGES_PY = """
import time
def stage(name, seconds):
    code = f"def {name}(end):\\n  while time.monotonic() < end: pass\\n{name}(time.monotonic() + {seconds})"
    exec(compile(code, name, "exec"), {"time": time})
stage("early", 1)
stage("middle", 2)
stage("late", 1)
"""


def test_delay_and_duration_bound_the_stacks_too(tool, tmp_path):
    out = tmp_path / "out"
    tool("run", "--delay", "1.7", "--duration", "0.7", "--no-report", "-o", str(out), "--", "python3", "-c", STAGES_PY)
    seen = {frame["function"] for event in events_of(tool, out) for frame in event.get("stack", ())}
    assert "middle" in seen and not seen & {"early", "late"}


def test_a_program_that_ends_before_the_delay_is_told_of(tool, loop, tmp_path):
    out = tmp_path / "out"
    result = tool("run", "--delay", "100", "-o", str(out), "--", loop, "4", "step")
    assert "before --delay 100 s was over" in result.stderr
    assert any("--delay" in warning for warning in report_of(out)["warnings"])


def test_capture_records_only_inside_the_named_range(tool, loop, tmp_path):
    out = tmp_path / "out"
    tool("run", "--capture", "range:window", "-o", str(out), "--", loop, "40", "step")
    events = events_of(tool, out)
    assert count(events, "window") == 10
    assert count(events, "step") == 10


def test_max_size_drops_the_oldest_and_says_so(tool, tmp_path):
    program = build(tmp_path, r"""
#include <nvtx3/nvToolsExt.h>
int main() {
  for (int i = 0; i < 2000000; ++i) {
    if (i % 10000 == 0) nvtxRangePushA("step");
    nvtxMarkA("tick");
    if (i % 10000 == 9999) nvtxRangePop();
  }
}
""", "many")
    out = tmp_path / "out"
    result = tool("run", "--max-size", "8MB", "-o", str(out), "--", program)
    size = sum(f.stat().st_size for f in (out / "trace").rglob("*.ssg"))
    assert size <= 8 << 20
    assert "oldest" in result.stderr
    last = [e for e in events_of(tool, out) if e["name"] == "step"]
    assert 5 < len(last) < 200


def test_live_shows_a_status_line_while_the_program_runs(tool, loop, tmp_path):
    import pty
    master, slave = pty.openpty()
    process = subprocess.Popen([str(TOOL), "run", "--live", "-o", str(tmp_path / "out"), "--", loop,
                                "400", "step"], stdout=slave, stderr=slave, stdin=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            data = os.read(master, 4096)
        except OSError:
            break
        if not data:
            break
        seen += data
    assert process.wait() == 0
    assert b"events" in seen


def test_a_full_disk_keeps_the_recording_where_it_is(tmp_path):
    """The run folder on a file system of 1 MB: the events stay in TMPDIR, and all of it is said."""
    program = build(tmp_path, r"""
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
int main() {
  for (int i = 0; i < 200000; ++i) {
    if (i % 1000 == 0) nvtxRangePushA("step");
    nvtxMarkA("tick");
    if (i % 1000 == 999) nvtxRangePop();
  }
  puts("trained");
}
""", "many")
    disk, spool = tmp_path / "disk", tmp_path / "spool"
    disk.mkdir()
    spool.mkdir()
    script = (f"mount -t tmpfs -o size=1m tmpfs {disk} || exit 77; "
              f"TMPDIR={spool} {TOOL} run -o {disk}/out -- {program}; code=$?; "
              f"{TOOL} report {disk}/out -o {tmp_path}/report -q; echo report $?; exit $code")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("needs the right to mount a file system")
    assert "trained" in done.stdout
    assert done.returncode in (0, 2)  # 2 when not even the report fits
    assert "could not be moved and stays in" in done.stderr
    assert "report 0" in done.stdout, done.stderr
    assert report_of(tmp_path / "report")["summary"]["stepsUsed"] > 20
