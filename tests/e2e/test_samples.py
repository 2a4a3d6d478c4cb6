"""Each sample pair, recorded: the stalled program's stall is found at its marked line, first; the
fixed twin has none of it, computes the same, and is faster."""
import pytest

import samples_table
from conftest import BUILD, TOOL


def test_every_required_stall_has_a_sample():
    wanted = {"item-in-step", "explicit-sync", "blocking-host-to-device", "mask-recreated",
              "constant-recreated", "tree-rewrite-in-loop", "many-small-collectives",
              "rank0-compute-broadcast", "blocking-collective", "collective-buffer-alloc",
              "no-prefetch", "per-parameter-norm", "sort-for-topk", "device-alloc-in-loop"}
    assert wanted <= {samples_table.expectation(name)[1] for name in samples_table.names()}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Each pair recorded when first asked for. On a machine that others use besides (other guests of
    its host do not show in its load), another wait may well be the longest, and either twin the
    slower: then it is recorded again, twice at most."""
    recorded = {}

    def pair_of(name):
        for _ in range(3 if name not in recorded else 0):
            pair = recorded[name] = samples_table.record_pair(TOOL, BUILD, name,
                                                              tmp_path_factory.mktemp(name))
            print(samples_table.row(pair))
            findings = pair.stalled.report["findings"]
            shows = (findings and findings[0]["ruleId"] == pair.rule
                     and pair.fixed.step_ns < pair.stalled.step_ns)
            if shows:
                break
        return recorded[name]

    return pair_of


@pytest.mark.parametrize("name", samples_table.names())
def test_twins_compute_the_same_and_the_fixed_one_is_faster(name, pairs):
    pair = pairs(name)
    assert pair.stalled.loss and pair.stalled.loss == pair.fixed.loss
    assert pair.fixed.step_ns < pair.stalled.step_ns


@pytest.mark.parametrize("name", samples_table.names())
def test_the_stall_is_found_first_at_its_line_and_is_gone_when_fixed(name, pairs):
    pair = pairs(name)

    findings = pair.stalled.report["findings"]
    assert findings, "nothing was found"
    first = findings[0]
    place = first["locations"][0] if first["locations"] else {}
    assert first["ruleId"] == pair.rule
    assert place.get("file", "").endswith(f"samples/{name}/stalled.cpp")
    assert place["line"] == pair.line

    assert not pair.fixed.findings(pair.rule)
