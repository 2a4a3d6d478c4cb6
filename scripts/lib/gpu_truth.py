"""The rules' cases against PyTorch itself: what they mark waits for the device, and what they propose does not."""
import sys

from gpu_harness import OUT, ROOT, check, expect, run


@check("lines that the rules' cases mark wait for the device, by PyTorch's own debug mode", seconds=60)
def cases():
    done = run(sys.executable, ROOT / "scripts/lib/case_truth.py", "cuda", OUT / "waits.csv", timeout=240, expected=None)
    (OUT / "case-truth.txt").write_text(done.stdout + done.stderr)
    summary = (done.stdout.strip().splitlines() or [done.stderr.strip()[-150:]])[-1]
    expect(done.returncode == 0, f"{summary}; see {OUT / 'case-truth.txt'}")
    return f"{summary}; for tests/truth: {OUT / 'waits.csv'}"
