"""Equinox programs that rewrite trees: found with calls, leaves and growth; batched twins are silent."""
import re

import pytest

from expected_lines import expected_line
from python_packages import python_with

pytestmark = pytest.mark.timed

RULE = "tree-rewrite-in-loop"


def findings(tool, source, out, sample, *options):
    python = python_with("jax", "equinox")
    program = source / "samples/jax" / sample
    done = tool("run", "-q", "-o", out, *options, "--", python, program)
    assert re.match(r"loss \d", done.stdout), done.stdout
    report = tool.report(out)
    seen = [f for f in report["findings"] if f["ruleId"] == RULE and f["status"] == "measured"]
    return report, seen, program


def evidence(finding):
    return {item["name"]: item["value"] for item in finding["evidence"]}


def test_a_loop_is_found_with_calls_leaves_and_growth(tool, source, tmp_path):
    report, seen, program = findings(tool, source, tmp_path / "out", f"{RULE}/stalled.py")
    finding, = seen
    assert finding["locations"][0]["line"] == expected_line(program)[0]
    assert finding["locations"][0]["function"] == "clip"
    values = evidence(finding)
    assert values["occurrences"] == 10
    assert values["leaves"] in (400, 1000, 1600)
    assert 0.1 < values["ns_per_leaf"] / 1000 < 1000
    assert 0.5 < values["growth"] < 1.5  # a call goes through the whole tree
    assert "one call that makes all changes" in finding["message"]
    assert finding["gain"]["stepTimeNs"]["mid"] > 0
    rank, = report["ranks"]
    assert rank["stepMarker"] == "filter_jit train_step"


def test_a_rewrite_at_start_up_is_found_with_its_one_time_cost(tool, source, tmp_path):
    _, seen, program = findings(tool, source, tmp_path / "out", "tree-rewrite-at-startup/stalled.py")
    finding, = seen
    assert finding["locations"][0]["line"] == expected_line(program)[0]
    assert evidence(finding)["one_time_calls"] == 200
    assert "200 calls" in finding["message"]
    assert finding["gain"]["oneTimeNs"] > 100e6
    assert finding["gain"]["stepTimeNs"] is None or finding["gain"]["stepTimeNs"]["mid"] == 0


@pytest.mark.parametrize("sample", [f"{RULE}/fixed.py", "tree-rewrite-at-startup/fixed.py"])
def test_the_batched_twin_is_silent(tool, source, tmp_path, sample):
    _, seen, _ = findings(tool, source, tmp_path / "out", sample)
    assert seen == []


def test_without_annotations_the_line_is_found_and_counts_are_unknown(tool, source, tmp_path):
    report, seen, program = findings(tool, source, tmp_path / "out", f"{RULE}/stalled.py", "--annotate", "off")
    finding, = seen
    assert finding["locations"][0]["line"] == expected_line(program)[0]
    values = evidence(finding)
    assert "occurrences" not in values and "leaves" not in values
    assert report["ranks"][0]["stepSource"] is None
