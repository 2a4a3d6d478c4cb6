"""What recording costs a whole program, in CPU time of the program and its recorder together.

Two copies of the program run at the same time, one on each of two cores, one of them
recorded; the next two swap cores. What slows the machine for a while slows both copies,
so that their ratio tells the recorder's share with far less noise than runs in turn.

Usage: overhead.py STALLSCOPE PAIRS -- COMMAND...   (two runs of two copies are one pair)
Prints the Hodges-Lehmann estimate and its 95 % interval (Wilcoxon's signed ranks), in per cent.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile


def cpu_seconds(process):
    """User and system time of a process and the children it waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"overhead.py: {process.args} ended with status {status}")
    return usage.ru_utime + usage.ru_stime


def relative_cost(stallscope, command, cores, folder):
    """The recorded copy's CPU time over the other's, minus one."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # One thread each: two teams of threads on one core would wait for each other.
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    recorded = [stallscope, "run", "-q", "--no-report", "--force", "-o", folder, "--", *command]
    copies = [
        subprocess.Popen(["taskset", "-c", str(core), *what], env=environment, **quiet)
        for core, what in zip(cores, (command, recorded))
    ]
    plain, with_recorder = map(cpu_seconds, copies)
    return with_recorder / plain - 1


def hodges_lehmann(values):
    """Median of all pairwise means, and the interval that the signed-rank test does not reject."""
    n = len(values)
    means = sorted((values[i] + values[j]) / 2 for i in range(n) for j in range(i, n))
    count = n * (n + 1) / 2
    tail = count / 2 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    k = max(0, int(tail))
    return statistics.median(means), means[k], means[-k - 1]


def main():
    stallscope, pairs, command = sys.argv[1], int(sys.argv[2]), sys.argv[4:]
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("overhead.py: needs two cores")
    with tempfile.TemporaryDirectory() as folder:
        costs = [
            statistics.mean(
                relative_cost(stallscope, command, order, os.path.join(folder, "run"))
                for order in (cores, cores[::-1])
            )
            for _ in range(pairs)
        ]
    middle, low, high = (100 * value for value in hodges_lehmann(costs))
    print(f"{middle:+.2f} % ({low:+.2f} to {high:+.2f} %, {pairs} pairs)")


if __name__ == "__main__":
    main()
