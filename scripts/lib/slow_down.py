"""How much a sampler slows its target down, on a machine whose own speed changes all the time: the
sampler is stopped and let go every few milliseconds, and each spell with it is compared with the
two beside it without."""
import array
import bisect
import os
import random
import signal
import statistics
import subprocess
import sys
import time

SPELL = 0.025  # seconds: a few samples at 200 Hz, and short beside the machine's own changes

# Notes when each short step has ended, on the clock of time.monotonic_ns().
TARGET = """
import array, sys, time
def squares(n):
    return sum(i * i for i in range(n))
def words(text):
    return {w: len(w) for w in text.split()}
def step():
    squares(6000)
    words("the quick brown fox jumps over the lazy dog " * 60)
    return sorted(range(1000), key=lambda i: -i)
ends = array.array("q")
stop = time.monotonic() + float(sys.argv[1])
print("started", flush=True)
while time.monotonic() < stop:
    step()
    ends.append(time.monotonic_ns())
with open(sys.argv[2], "wb") as out:
    ends.tofile(out)
"""


def spells(sampler, end):
    """(begin, end) of spells of alternating kind, in ns; the sampler runs in the first."""
    out, runs, begin = [], True, time.monotonic_ns()
    while time.monotonic() < end:
        time.sleep(SPELL)
        out.append((begin, time.monotonic_ns()))
        runs = not runs
        os.kill(sampler.pid, signal.SIGCONT if runs else signal.SIGSTOP)
        begin = time.monotonic_ns()
    os.kill(sampler.pid, signal.SIGCONT)
    return out


def slow_down(work, sampler_command, seconds):
    """Median slow-down with its 95 % interval (bootstrap), and the number of spells compared.

    sampler_command(pid) gives the command that samples `pid` for at least `seconds`."""
    times = work / "steps.bin"
    target = subprocess.Popen([sys.executable, "-c", TARGET, str(seconds), str(times)], stdout=subprocess.PIPE)
    target.stdout.readline()
    sampler = subprocess.Popen(sampler_command(target.pid), stdout=subprocess.DEVNULL)
    time.sleep(0.5)  # until the sampler has found Python
    alternating = spells(sampler, time.monotonic() + seconds - 1.5)
    target.wait()
    sampler.wait()
    ends = array.array("q", times.read_bytes())
    steps = []
    for begin, end in alternating:
        first, last = bisect.bisect_left(ends, begin), bisect.bisect_left(ends, end) - 1
        steps.append((ends[last] - ends[first]) / (last - first) if last > first else None)
    ratios = [
        with_sampler / ((before + after) / 2) - 1
        for before, with_sampler, after in zip(steps[1::2], steps[2::2], steps[3::2])
        if before and with_sampler and after
    ]
    resampled = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(1000))
    return statistics.median(ratios), resampled[25], resampled[975], len(ratios)
