"""The planted stalls of samples/pytorch and their fixed twins."""
import subprocess
import sys

from expected_lines import expected_lines
from gpu_harness import (OUT, ROOT, SAMPLES, NotApplicable, check, events, expect, findings, python, record, run,
                         written)


def pair_check(rule):
    @check(f"{rule} is found at its line, and not in the fixed twin", seconds=30)
    def pair():
        _, stalled = record(f"{rule}-stalled", *python(f"{rule}/stalled.py"))
        _, fixed = record(f"{rule}-fixed", *python(f"{rule}/fixed.py"))
        line = next(line for line, marked in expected_lines(SAMPLES / rule / "stalled.py") if marked == rule)
        found = findings(stalled, rule)
        expect(any(place["line"] == line for f in found for place in f["locations"]), f"not found at line {line}")
        expect(not findings(fixed, rule), "found in the fixed twin")
        return f"line {line}; recorded run in {OUT / f'{rule}-stalled'}"


@check("JAX: a tree that is rewritten leaf by leaf is found at its line, and not in the fixed twin", torch=False, seconds=40)
def jax_tree():
    folder, rule = ROOT / "samples/jax/tree-rewrite-in-loop", "tree-rewrite-in-loop"
    if subprocess.run([sys.executable, "-c", "import equinox, jax; assert jax.default_backend() == 'gpu'"],
                      capture_output=True).returncode:
        raise NotApplicable("JAX with CUDA and Equinox are not installed")
    _, stalled = record("jax-stalled", sys.executable, folder / "stalled.py")
    _, fixed = record("jax-fixed", sys.executable, folder / "fixed.py")
    kernels = sum(event["kind"] in ("kernel", "graph-launch") for event in events("jax-stalled"))
    expect(kernels, "no kernel of XLA's was recorded")
    expect(findings(stalled, rule), "not found")
    expect(not findings(fixed, rule), "found in the fixed twin")
    return f"{kernels} kernels and graphs"


for sample in sorted(p.name for p in SAMPLES.iterdir() if (p / "stalled.py").exists()):
    pair_check(sample)


@check("losses are the same, bit for bit, with and without recording", seconds=30)
def losses():
    text = ("import sys, pathlib; sys.path.insert(0, %r)\n"
            "import torch; from model import DEVICE, batches, build, loss_of\n"
            "torch.use_deterministic_algorithms(True); model, optimizer = build(); losses = []\n"
            "for rows in batches():\n"
            "    loss = loss_of(model, rows.to(DEVICE)); optimizer.zero_grad(); loss.backward(); optimizer.step()\n"
            "    losses.append(loss.item().hex())\n"
            "print(losses)\n") % str(SAMPLES)
    program, _ = written("losses", text)
    deterministic = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    plain = run(sys.executable, program, env=deterministic).stdout
    again = run(sys.executable, program, env=deterministic).stdout
    recorded, _ = record("losses", sys.executable, program, env=deterministic)
    expect(plain == again, "they differ between two runs without recording")
    expect(recorded.stdout == plain, "they differ")
    return f"{plain.count('0x')} losses"
