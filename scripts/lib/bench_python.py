"""Measures for scripts/bench/python.sh: BUILD-FOLDER PAIRS."""
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from slow_down import slow_down

BUILD, PAIRS = pathlib.Path(sys.argv[1]), int(sys.argv[2])
SOURCE = pathlib.Path(__file__).parents[2]
RATE = 200

# Blocking calls that do nothing, timed in C: what is left is the recorder.
LIBRARY = r"""
#include "collect/annotate.h"
#include <time.h>
double block(int calls) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < calls; ++i) {
    stallscope_api_begin("cudaDeviceSynchronize",
                         (stallscope_api){.call = STALLSCOPE_API_DEVICE_SYNC, .device = 0});
    stallscope_end();
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec);
}
"""
CALLER = """
import ctypes, sys
block = ctypes.CDLL(sys.argv[1]).block
block.restype = ctypes.c_double
def at_depth(n):
    return at_depth(n - 1) if n > 1 else min(block(2000) / 2000 for _ in range(20))
print(at_depth(30))
"""
# Three functions with known shares; it prints its own CPU seconds.
PROGRAM = """
import time
def squares(n):
    return sum(i * i for i in range(n))
def words(text):
    return {w: len(w) for w in text.split()}
def step():
    squares(60000)
    for _ in range(12): words("the quick brown fox jumps over the lazy dog " * 60)
    return sorted(range(20000), key=lambda i: -i)
for _ in range(1000): step()
print("cpu", time.process_time())
"""


# A compiled step; it prints its graphs, its breaks and the median time of a step.
COMPILED = """
import statistics, time, torch
from torch._dynamo.utils import counters
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(256, 256), torch.nn.GELU())])
optimizer = torch.optim.AdamW(model.parameters())
forward = torch.compile(model, backend="aot_eager")
times = []
for _ in range(400):
    begin = time.perf_counter()
    optimizer.zero_grad()
    forward(torch.ones(16, 256)).square().mean().backward()
    optimizer.step()
    times.append(time.perf_counter() - begin)
print("compiled", counters["stats"]["unique_graphs"], sum(counters["graph_break"].values()),
      statistics.median(times[100:]) * 1e6)
"""


def run(*command, **settings):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **settings).stdout


def stack_cost(work):
    library = work / "block.so"
    (work / "block.c").write_text(LIBRARY)
    (work / "caller.py").write_text(CALLER)
    run("cc", "-O2", "-shared", "-fPIC", "-o", library, work / "block.c", "-I", SOURCE / "src",
        "-I", SOURCE / "deps/nvtx", "-ldl")
    times = {}
    for python in ("0", "1"):
        out = work / f"path{python}"
        out.mkdir()
        environment = {**os.environ, "STALLSCOPE_OUT": str(out), "STALLSCOPE_NATIVE_STACKS": "0",
                       "STALLSCOPE_PYTHON_STACKS": python, "STALLSCOPE_MAX_BYTES": str(32 << 20),
                       "NVTX_INJECTION64_PATH": str(BUILD / "lib/libstallscope-collect.so")}
        times[python] = float(run(sys.executable, work / "caller.py", library, env=environment))
    print(f"a Python stack of depth 30 at a blocking call: {times['1'] - times['0']:.0f} ns "
          f"({times['1']:.0f} with, {times['0']:.0f} without; goal 1000)")


def cpu_seconds(output):
    return float(re.search(r"^cpu ([0-9.]+)$", output, re.MULTILINE)[1])


def sampled(work, program, rate):
    out = work / "run"
    output = run(BUILD / "stallscope", "run", "-q", "--force", "--no-report", "--annotate", "off",
                 "--sample-rate", rate, "-o", out, "--", sys.executable, program)
    return cpu_seconds(output), json.loads((out / "trace/run.json").read_text())


def sampling_cost(work, program):
    shares, rates = [], []
    for _ in range(PAIRS):
        _, manifest = sampled(work, program, RATE)
        seconds = manifest["durationNs"] / 1e9
        shares.append(int(manifest["environment"]["python.sampler_cpu_ms"]) / 1000 / seconds)
        rates.append(int(manifest["environment"]["python.samples"]) / seconds)
    print(f"sampling at {RATE} Hz: {statistics.median(shares):.2%} of a core (goal 1 %), "
          f"{statistics.median(rates):.0f} samples per second got")


def sampling_slows(work):
    meter = BUILD / "sampler_cost"
    if not meter.exists():
        return
    seconds = 10 * PAIRS
    for native, what in ((0, "Python alone"), (1, "native functions too")):
        median, low, high, count = slow_down(
            work, lambda pid: [meter, str(pid), str(RATE), str(seconds), str(native)], seconds)
        print(f"a program sampled {RATE} times a second without a budget, {what}: {median:+.2%} slower "
              f"({low:+.2%} to {high:+.2%}, {count} spells of 25 ms with, each beside two without; goal 0.5 %)")


def sample_cost(work, program):
    """CPU time of the sampler alone, without its budget, on a program that never sleeps."""
    meter = BUILD / "sampler_cost"
    if not meter.exists():
        print("sampler_cost was not built (google-benchmark is missing): the cost of one sample not measured")
        return
    target = subprocess.Popen([sys.executable, "-c", program.read_text().replace("range(1000)", "range(10 ** 6)")])
    try:
        costs, wakes = {"0": [], "1": []}, []
        for pair in range(PAIRS):
            for native in ("0", "1") if pair % 2 else ("1", "0"):
                samples, seconds, _, wake = run(meter, target.pid, RATE, 2, native).split()
                costs[native].append(float(seconds) / int(samples) * 1e6)
                wakes.append(float(wake) * 1e6)
    finally:
        target.kill()
        target.wait()
    plain, native = (statistics.median(costs[kind]) for kind in ("0", "1"))
    print(f"one sample of a busy thread: {plain:.0f} us of the sampler's CPU, {native:.0f} with native functions, "
          f"{statistics.median(wakes):.0f} of them to wake from a timer "
          f"({plain * RATE / 1e4:.2f} % and {native * RATE / 1e4:.2f} % of a core at {RATE} Hz, if no budget held it)")


def hot_lines(stacks):
    """The five lines that are innermost most often, by (file name, line)."""
    counts = collections.Counter()
    for line, weight in stacks:
        counts[line] += weight
    total = sum(counts.values())
    return {line: weight / total for line, weight in counts.most_common(5)}


def our_stacks(work):
    for line in run(BUILD / "stallscope", "dump", work / "run", "--kind", "sample").splitlines():
        event = json.loads(line)
        frame = next((f for f in event["stack"] if f["kind"] == "python"), {})
        yield (os.path.basename(frame.get("file", "")), frame.get("line", 0)), event["durationNs"]


def their_stacks(path):
    for line in path.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        place = stack.split(";")[-1].rpartition("(")[2].rstrip(")")
        file, _, number = place.rpartition(":")
        yield (os.path.basename(file), int(number or 0)), int(count)


def annotated_speed(work):
    python = os.environ.get("STALLSCOPE_TEST_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode != 0:
        print(f"{python} lacks torch (set STALLSCOPE_TEST_PYTHON): compiled speed with --annotate not measured")
        return
    program = work / "compiled.py"
    program.write_text(COMPILED)
    times, counts = {"auto": [], "off": []}, {"auto": set(), "off": set()}
    for pair in range(PAIRS):
        for annotate in ("auto", "off") if pair % 2 else ("off", "auto"):
            output = run(BUILD / "stallscope", "run", "-q", "--force", "--no-report", "--annotate", annotate,
                         "--sample-rate", 0, "-o", work / "annotated", "--", python, program)
            _, graphs, breaks, median = re.search(r"^(compiled) (\d+) (\d+) ([0-9.]+)$", output, re.MULTILINE).groups()
            times[annotate].append(float(median))
            counts[annotate].add((int(graphs), int(breaks)))
    ratios = sorted(a / b for a, b in zip(times["auto"], times["off"]))
    same = "the same" if counts["auto"] == counts["off"] and len(counts["off"]) == 1 else "DIFFERENT"
    print(f"a compiled step of {statistics.median(times['off']):.0f} us with --annotate against without, {PAIRS} pairs: "
          f"median {statistics.median(ratios) - 1:+.2%}, from {ratios[0] - 1:+.2%} to {ratios[-1] - 1:+.2%}; "
          f"graphs and breaks {same}: {sorted(counts['auto'])} and {sorted(counts['off'])}")


def against_py_spy(work, program):
    spy = os.environ.get("PY_SPY") or shutil.which("py-spy")
    if not spy:
        print("py-spy is not installed (pip install py-spy): not compared")
        return
    cpu, manifest = sampled(work, program, RATE)
    ours = int(manifest["environment"]["python.sampler_cpu_ms"]) / 1000
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = run(spy, "record", "-r", RATE, "-f", "raw", "-o", work / "spy.txt", "--", sys.executable, program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    theirs -= cpu_seconds(output)
    mine, spied = hot_lines(our_stacks(work)), hot_lines(their_stacks(work / "spy.txt"))
    common = set(mine) & set(spied)
    print(f"py-spy at {RATE} Hz: {theirs:.2f} s of CPU, ours {ours:.2f} s ({theirs / max(ours, 1e-3):.1f} times ours); "
          f"{len(common)} of the five hottest lines are the same, shares within "
          f"{max((abs(mine[line] - spied[line]) for line in common), default=1):.1%}")


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    program = work / "program.py"
    program.write_text(PROGRAM)
    stack_cost(work)
    sample_cost(work, program)
    sampling_cost(work, program)
    sampling_slows(work)
    annotated_speed(work)
    against_py_spy(work, program)
