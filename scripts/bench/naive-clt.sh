#!/usr/bin/env bash
# What each thing that a naive transcoder step does too much costs, taken away one by one.
set -euo pipefail
cmake --build build/release --target naive-clt-naive >/dev/null
exec python3 - build/release/samples/naive-clt-naive <<'PYTHON'
import statistics
import subprocess
import sys

STEPS = [("naive: all of it", None),
         ("every rank selects for itself", "--rank0-mask"),
         ("no gather of pre-activations", "--gathers"),
         ("the encoder runs once", "--encoder-again"),
         ("one reduction for all decoders", "--reduce-each"),
         ("the decoder reads active rows only", "--dense")]
ROUNDS = 5


def run(switches):
    done = subprocess.run([sys.argv[1], *switches], capture_output=True, text=True, check=True)
    words = dict(line.split() for line in done.stdout.splitlines())
    return float(words["step"]), float(words["loss"])


variants, switches = [], [switch for _, switch in STEPS if switch]
for name, removed in STEPS:
    switches = [it for it in switches if it != removed]
    variants.append((name, list(switches), [], []))
for _ in range(ROUNDS):
    for _, on, times, losses in variants:
        time, loss = run(on)
        times.append(time)
        losses.append(loss)
print(f"{'step on two ranks':36} {'median':>9} {'lowest':>9} {'saved':>9}   loss")
before = None
for name, _, times, losses in variants:
    median = statistics.median(times)
    saved = "" if before is None else f"{before - median:7.1f} ms"
    print(f"{name:36} {median:6.1f} ms {min(times):6.1f} ms {saved:>10}   {losses[0]:.6f}")
    before = median
PYTHON
