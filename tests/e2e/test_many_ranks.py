"""Several ranks: read at once, summarised apart, aligned, checked against each other."""
import json
import sqlite3

from kineto_steps import write_trace

RANKS, SLOW, LATE = 6, 4, 2


def write_ranks(folder):
    folder.mkdir()
    for rank in range(RANKS):
        # The slow rank computes longer and so comes later; the late one only launches later.
        arrives = {SLOW: 0.8, LATE: 0.9}.get(rank, 0.6)
        write_trace(folder / f"rank{rank}.json.gz", steps=10, noise=0, rank=rank, world=RANKS, arrives=arrives,
                    clock_us=100.0 * rank, busy_factor=1.5 if rank == SLOW else 1.0)
    return folder


def test_the_slow_and_the_late_rank_are_named_and_clocks_aligned(tool, tmp_path):
    tool("report", write_ranks(tmp_path / "ranks"), "-o", tmp_path / "out")
    report = tool.report(tmp_path / "out")
    assert [rank["rank"] for rank in report["ranks"]] == list(range(RANKS))
    [late] = [finding for finding in report["findings"] if finding["ruleId"] == "late-rank"]
    assert late["ranks"] == [LATE] and f"rank {LATE}" in late["title"]
    slow = {finding["ranks"][0]: finding for finding in report["findings"] if finding["ruleId"] == "slow-rank"}
    assert SLOW in slow and set(slow) <= {SLOW, LATE}
    assert "compute" in slow[SLOW]["message"]
    assert abs(slow[SLOW]["gain"]["stepTimeNs"]["mid"] - 2_000_000) < 600_000
    assert [rank["clockOffsetNs"] for rank in report["ranks"]] == [100_000 * rank for rank in range(RANKS)]
    assert report["trust"]["clockAlignment"] == {"ranks": RANKS, "collectives": 10 * (RANKS - 1), "residualNs": 0}
    assert report["errors"] == []
    [row] = report["ranks"][0]["collectives"]
    assert (row["operation"], row["bytes"], row["count"]) == ("all-reduce", 4096, 8)
    assert row["algorithmGbPerS"] > 0 and row["exposedNs"] + row["hiddenNs"] > 0
    assert "Collectives by size" in (tmp_path / "out/report.html").read_text()


def test_the_late_link_is_named_by_its_ranks(tool, tmp_path):
    traces = tmp_path / "ranks"
    traces.mkdir()
    for rank in range(RANKS):
        write_trace(traces / f"rank{rank}.json.gz", steps=10, noise=0, rank=rank, world=RANKS,
                    arrives=0.9 if rank in (1, 2) else 0.6, clock_us=50.0 * rank)
    tool("report", traces, "-o", tmp_path / "out")
    report = tool.report(tmp_path / "out")
    [link] = [finding for finding in report["findings"] if finding["ruleId"] == "late-link"]
    assert link["ranks"] == [1, 2] and "ranks 1, 2" in link["title"]
    assert not [finding for finding in report["findings"] if finding["ruleId"] == "late-rank"]


def test_groups_are_matched_by_their_members_not_by_their_names(tool, tmp_path):
    # Every rank calls its own pair "1", though there are two pairs, of which one has a slower link.
    traces = tmp_path / "ranks"
    traces.mkdir()
    import gzip
    for rank in range(8):
        path = traces / f"rank{rank}.json.gz"
        slow = rank // 2 == 1
        write_trace(path, steps=10, noise=0, rank=rank, world=8, arrives=0.5 if slow else 0.6)
        document = json.loads(gzip.decompress(path.read_bytes()))
        for event in document["traceEvents"]:
            if event["name"].startswith("nccl"):
                pair = [rank // 2 * 2, rank // 2 * 2 + 1]
                event["args"].update({"Process Group Name": "1", "Process Group Ranks": str(pair), "Group size": 2})
        path.write_bytes(gzip.compress(json.dumps(document).encode()))
    tool("report", traces, "-o", tmp_path / "out")
    report = tool.report(tmp_path / "out")
    assert {row["group"] for row in report["collectives"]} == {f"ranks {i},{i + 1}" for i in range(0, 8, 2)}
    assert report["errors"] == []
    [link] = [finding for finding in report["findings"] if finding["ruleId"] == "late-link"]
    assert link["ranks"] == [2, 3]


def test_summaries_of_nodes_give_the_report_of_all_traces(tool, tmp_path):
    traces = write_ranks(tmp_path / "ranks")
    tool("report", traces, "-o", tmp_path / "whole")
    for node in (0, 1):
        own = [traces / f"rank{rank}.json.gz" for rank in range(node, RANKS, 2)]
        tool("report", *own, "--summary-only", "-o", tmp_path / "summaries")
    files = sorted((tmp_path / "summaries").iterdir())
    assert [file.name for file in files] == [f"rank-{rank}.summary" for rank in range(RANKS)]
    for inputs in (files, [tmp_path / "summaries"], [tmp_path / "summaries/*.summary"]):
        tool("report", *inputs, "-o", tmp_path / "merged")
        whole, merged = tool.report(tmp_path / "whole"), tool.report(tmp_path / "merged")
        for report in (whole, merged):
            report["run"]["inputs"] = None
        assert merged == whole
    # Summaries and traces mix; one rank alone can be asked for.
    tool("report", files[0], traces / "rank1.json.gz", "-o", tmp_path / "mixed")
    assert len(tool.report(tmp_path / "mixed")["ranks"]) == 2
    tool("report", tmp_path / "summaries", "--ranks", "3", "-o", tmp_path / "one")
    assert [rank["rank"] for rank in tool.report(tmp_path / "one")["ranks"]] == [3]


def test_ranks_are_exported_on_one_clock(tool, tmp_path):
    tool("export", write_ranks(tmp_path / "ranks"), "--to", "sqlite", "-o", tmp_path / "run.sqlite")
    database = sqlite3.connect(tmp_path / "run.sqlite")
    ends = {end for (end,) in database.execute(
        "SELECT start_ns + duration_ns FROM event WHERE name LIKE 'nccl%'")}
    assert len(ends) == 10  # one per step, equal on all ranks


def test_a_damaged_summary_is_refused_by_name(tool, tmp_path):
    trace = write_trace(tmp_path / "trace.json.gz", rank=0, world=1)
    tool("report", trace, "--summary-only", "-o", tmp_path)
    summary = tmp_path / "rank-0.summary"
    text = summary.read_text()
    for broken in (text[: len(text) // 2], text.split("\n")[0] + "\n", text.replace('Summaries":1', 'Summaries":9'),
                   text.replace('"warnings":[]', '"warnings":7'), text.replace('"stepMedian":', '"stepMedian":"x","a":')):
        summary.write_text(broken)
        assert "rank-0.summary" in tool("report", summary, "-o", tmp_path / "out", check=2).stderr
    summary.write_text("mine")
    assert "no summary" in tool("report", trace, "--summary-only", "-o", tmp_path, check=2).stderr
    assert summary.read_text() == "mine"
    tool("report", trace, "--summary-only", "-o", "-", check=2)


def test_ranks_that_ran_different_collectives_are_told(tool, tmp_path):
    traces = write_ranks(tmp_path / "ranks")
    import gzip
    path = traces / "rank3.json.gz"
    document = json.loads(gzip.decompress(path.read_bytes()))
    for event in document["traceEvents"]:
        if event["name"].startswith("nccl") and event["args"]["Seq"] == 5:
            event["name"] = "ncclDevKernel_Broadcast_RING_LL"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    tool("report", traces, "-o", tmp_path / "out")
    [error] = tool.report(tmp_path / "out")["errors"]
    assert error["code"] == "collective-order"
    assert "number 5 of group '0'" in error["message"] and "rank 3" in error["message"]
