#!/usr/bin/env python3
"""Record every sample pair: what the report predicts for its stall, and what the fixed twin gains.

    scripts/lib/samples_table.py TOOL BUILD_FOLDER [NAME...]     print the table
"""
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

from expected_lines import expected_line

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"


@dataclasses.dataclass
class Run:
    """One recorded program: its report and the last line it printed."""
    report: dict
    loss: str

    @property
    def step_ns(self):
        return self.report["summary"]["stepTimeNs"]["median"]

    def findings(self, rule):
        return [f for f in self.report["findings"] if f["ruleId"] == rule]


@dataclasses.dataclass
class Pair:
    """A sample's two programs, recorded."""
    name: str
    rule: str
    line: int
    stalled: Run
    fixed: Run

    @property
    def measured_ns(self):
        return self.stalled.step_ns - self.fixed.step_ns

    @property
    def predicted_ns(self):
        """Low, mid and high gain of the expected finding; None when there is none."""
        gains = [f["gain"]["stepTimeNs"] for f in self.stalled.findings(self.rule)
                 if f["gain"] and f["gain"]["stepTimeNs"]]
        return gains[0] if gains else None


def names():
    """Every folder that holds a pair."""
    return sorted(p.parent.name for p in SAMPLES.glob("*/stalled.cpp"))


def expectation(name):
    """The line and the rule that the stalled program marks."""
    return expected_line(SAMPLES / name / "stalled.cpp")


def record(tool, program, folder):
    """Run a program under the recorder and read its report."""
    done = subprocess.run([str(tool), "run", "-q", "-o", str(folder), "--", str(program)],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{program} ended with {done.returncode}\n{done.stderr[-2000:]}")
    losses = [line for line in done.stdout.splitlines() if line.startswith("loss ")]
    report = json.loads((pathlib.Path(folder) / "report.json").read_text())
    return Run(report, losses[-1] if losses else "")


def record_pair(tool, build, name, folder):
    """Record both programs of a sample into `folder`."""
    line, rule = expectation(name)
    runs = [record(tool, pathlib.Path(build) / "samples" / f"{name}-{variant}",
                   pathlib.Path(folder) / f"{name}-{variant}") for variant in ("stalled", "fixed")]
    return Pair(name, rule, line, *runs)


def milliseconds(nanoseconds):
    return f"{nanoseconds / 1e6:.2f}"


def row(pair):
    """One line of the table, in milliseconds per step."""
    predicted = pair.predicted_ns
    gain = "none" if predicted is None else "{} ({} to {})".format(
        *(milliseconds(predicted[key]) for key in ("mid", "low", "high")))
    return (f"| {pair.name} | {milliseconds(pair.stalled.step_ns)} "
            f"| {milliseconds(pair.fixed.step_ns)} | {milliseconds(pair.measured_ns)} | {gain} |")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, build, wanted = sys.argv[1], sys.argv[2], sys.argv[3:] or names()
    print("Samples (modelled kernel times), milliseconds per step:\n")
    print("| sample | stalled | fixed | measured difference | predicted gain |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            print(row(record_pair(tool, build, name, folder)), flush=True)


if __name__ == "__main__":
    main()
