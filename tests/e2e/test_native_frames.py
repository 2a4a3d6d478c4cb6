"""Native functions below the sampled Python lines, named from outside."""
import collections
import json
import subprocess
import sys

import pytest

from conftest import TOOL
from test_python_sampling import PYTHONS

pytestmark = pytest.mark.timed

# A C extension in all but name: ctypes calls it.
LIBRARY = r"""
#include <stddef.h>
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void spin_inside(long rounds) {
  for (long i = 0; i < rounds; ++i) sink += (unsigned long)i * 7;
}
/* As much stack as libraries of linear algebra take, all of it used: a page that never was is not copied. */
__attribute__((noinline)) long spin_native(long rounds) {
  volatile char room[36 * 1024];
  for (size_t i = 0; i < sizeof room; i += 1024) room[i] = 1;
  spin_inside(rounds);
  return (long)sink + room[0];
}
__attribute__((noinline, optimize("omit-frame-pointer"))) long nap_native(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, 0);
  return (long)sink;
}
"""
PROGRAM = """
import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
def spin():
    return library.spin_native(60000000)  # mark: spin
def nap():
    return library.nap_native(80)  # mark: nap
def python():
    total = 0
    for i in range(40000):
        total += i
    return total
end = time.time() + 2
while time.time() < end:
    spin(); python(); nap()
print("loss 0.25")
"""
# Runs a command whose calls of one number are refused, as a container's filter does.
FILTER = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argv[1]), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  execvp(argv[2], argv + 2);
  return 98;
}
"""
PERF_EVENT_OPEN, PROCESS_VM_READV = 298, 310  # x86-64


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native")
    for name, text, flags in (("block", LIBRARY, ["-shared", "-fPIC"]), ("filter", FILTER, [])):
        (folder / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-O2", *flags, "-o", str(folder / name), str(folder / f"{name}.c")], check=True)
    (folder / "program.py").write_text(PROGRAM)
    return folder


def line_of(mark):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if f"# mark: {mark}" in line)


def stacks_of(tool, out):
    """(native functions, innermost Python frame) of each sample, innermost first."""
    for line in tool("dump", str(out), "--kind", "sample").stdout.splitlines():
        stack = json.loads(line)["stack"]
        native = [frame["function"] for frame in stack if frame["kind"] == "native"]
        python = next(frame for frame in stack if frame["kind"] == "python")
        assert [frame["kind"] for frame in stack] == sorted((f["kind"] for f in stack)), stack
        yield native, (python["function"].split(".")[-1], python.get("line", 0))


def manifest_of(out):
    return json.loads((out / "trace/run.json").read_text())


def environment_of(out):
    return manifest_of(out)["environment"]


def record(tool, files, out, *before, python=sys.executable):
    # 50 Hz leaves room in the budget on a machine that others use.
    command = [*before, str(TOOL), "run", "-q", "--sample-rate", "50", "--annotate", "off", "--no-report",
               "-o", str(out), "--", python, str(files / "program.py"), str(files / "block")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "loss 0.25\n"


@pytest.mark.parametrize("python", PYTHONS)
def test_native_functions_stand_below_their_python_line(tool, files, tmp_path, python):
    out = tmp_path / "out"
    record(tool, files, out, python=python)
    environment = environment_of(out)
    below = collections.defaultdict(collections.Counter)
    for native, place in stacks_of(tool, out):
        for name in native:
            below[name][place] += 1
    if environment["python.native"] == "on":
        assert below["spin_inside"], below
        # The line that calls it and no other: a copy that shows another call is not used.
        assert set(below["spin_inside"]) == {("spin", line_of("spin"))}
        assert set(below["spin_native"]) == {("spin", line_of("spin"))}
    # Sleeping threads need no permission but that to read memory.
    assert set(below["nap_native"]) == {("nap", line_of("nap"))}, below
    assert not any("PyEval" in name for name in below), list(below)


def test_native_functions_can_be_turned_off(tool, files, tmp_path, monkeypatch):
    monkeypatch.setenv("STALLSCOPE_NATIVE_STACKS", "0")
    out = tmp_path / "out"
    record(tool, files, out)
    assert environment_of(out)["python.native"] == "off"
    assert not any(native for native, _ in stacks_of(tool, out))


def test_where_the_kernel_refuses_copies_of_running_threads_the_rest_goes_on(tool, files, tmp_path):
    out = tmp_path / "out"
    record(tool, files, out, str(files / "filter"), str(PERF_EVENT_OPEN))
    assert environment_of(out)["python.native"] == (
        "of sleeping threads only: perf_event_open: Operation not permitted")
    places = collections.Counter(place for _, place in stacks_of(tool, out))
    assert places[("spin", line_of("spin"))] > 0, places
    named = {name for native, _ in stacks_of(tool, out) for name in native}
    assert "nap_native" in named and "spin_native" not in named


def test_where_the_kernel_refuses_to_read_memory_the_report_says_so(tool, files, tmp_path):
    out = tmp_path / "out"
    record(tool, files, out, str(files / "filter"), str(PROCESS_VM_READV))
    assert any("Python is not sampled: the process's memory cannot be read" in warning
               for warning in manifest_of(out)["warnings"])
    assert not list(stacks_of(tool, out))
