"""Is it the code or the machine? A busy neighbour, a stopped rank and a CPU quota, for real."""
import os
import pathlib
import re
import subprocess
import time

import pytest

pytestmark = pytest.mark.timed

# Steps of about 20 ms of CPU time each.
PROGRAM = r"""
#include "collect/annotate.h"
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char** argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 60, stop_at = argc > 2 ? atoi(argv[2]) : -1;
  for (int i = 0; i < steps; ++i) {
    stallscope_range_begin("step");
    if (i == stop_at) raise(SIGSTOP);
    double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.02;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end) {}
    stallscope_end();
  }
  return 0;
}
"""


@pytest.fixture
def program(compile_c):
    return compile_c("steps", PROGRAM)


def node_finding(tool, out):
    found = [f for f in tool.report(out)["findings"] if f["ruleId"] == "node-contention"]
    return found[0] if found else None


def share(finding, name):
    evidence = {item["name"]: item["value"] for item in finding["evidence"]}
    return evidence.get(name, 0) / evidence["host blocked"]


def test_a_busy_neighbour_is_named(tool, program, tmp_path):
    cpu = str(max(os.sched_getaffinity(0)))
    neighbour = subprocess.Popen(["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"])
    try:
        tool("run", "-q", "-o", tmp_path / "out", "--", "taskset", "-c", cpu, program)
    finally:
        neighbour.kill()
        neighbour.wait()
    finding = node_finding(tool, tmp_path / "out")
    assert finding and "other programs used" in finding["message"]
    assert share(finding, "delayed_ns") > 0.9


def test_a_stopped_rank_is_a_straggler_because_it_was_stopped(tool, program, tmp_path):
    # Late in the run: what comes early counts as warm-up.
    script = (f"export WORLD_SIZE=2; RANK=0 {program} 60 & RANK=1 {program} 60 45 & late=$!; "
              "until grep -q 'T (stopped)' /proc/$late/status; do sleep 0.05; done; "
              "sleep 4; kill -CONT $late; wait")
    tool("run", "-q", "-o", tmp_path / "out", "--", "sh", "-c", script)
    findings = {f["ruleId"]: f for f in tool.report(tmp_path / "out")["findings"]}
    slow = findings["slow-rank"]
    assert slow["ranks"] == [1]
    assert "a signal stopped the process" in slow["message"]


def quota_folder():
    """A control group with half a CPU, where this machine lets us make one."""
    for base, name, value in (("/sys/fs/cgroup", "cpu.max", "20000 100000"),
                              ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000")):
        folder = pathlib.Path(base) / f"stallscope-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / "cgroup.procs").exists():  # a control group, not a folder beside them
                (folder / name).write_text(value)
                return folder
        except OSError:
            pass
        folder.rmdir()
    pytest.skip("no control group with a CPU quota can be made here")


def test_a_cpu_quota_is_named(tool, program, tmp_path):
    folder = quota_folder()
    try:
        # The quota holds for the program; the recorder stays outside.
        script = f"echo $$ > {folder}/cgroup.procs; exec {program} 40"
        tool("run", "-q", "-o", tmp_path / "out", "--", "sh", "-c", script)
    finally:
        time.sleep(0.1)
        folder.rmdir()
    finding = node_finding(tool, tmp_path / "out")
    assert finding
    others = re.search(r"other programs used ([0-9.]+) CPUs", finding["message"])
    if others and float(others[1]) > 0.75 * len(os.sched_getaffinity(0)):
        pytest.skip("other programs leave the test less than the quota would")
    assert "CPU quota" in finding["message"]
    assert share(finding, "throttled_ns") > 0.25
