"""NCCL's profiler plugin and CUPTI in one process: collectives are timed by their kernels."""
import json
import os
import pathlib

import pytest

SOURCE = pathlib.Path(os.environ.get("STALLSCOPE_SOURCE", pathlib.Path(__file__).parents[2]))
TEXT = (SOURCE / "tests/mock/nccl/training.cpp").read_text().splitlines()
# The lines of the function that captures the graph.
BEGIN = next(number for number, line in enumerate(TEXT, 1) if "void capture()" in line)
CAPTURE = (BEGIN, next(number for number, line in enumerate(TEXT, 1) if number > BEGIN and line == "}"))


@pytest.fixture
def record(tool, build, tmp_path):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")

    def run(*options, kernel_ns=(400_000, 100_000), level="light"):
        ranks = " & ".join(f"RANK={rank} {build}/mock/fake_nccl_training {ns} {' '.join(options)}"
                           for rank, ns in enumerate(kernel_ns))
        out = tmp_path / "out"
        tool("run", "-q", "--force", "--gpu", level, "-o", out, "--", "sh", "-c", f"{ranks} & wait",
             env={"STALLSCOPE_CUPTI": str(library), "WORLD_SIZE": str(len(kernel_ns))})
        return tool.report(out)
    return run


@pytest.mark.parametrize("order", ["after", "before"])
def test_a_kernel_has_the_bytes_its_library_told(record, order):
    ranks = {rank["rank"]: rank for rank in record(order)["ranks"]}
    for rank, duration in ((0, 400_000), (1, 100_000)):
        rows = {row["operation"]: row for row in ranks[rank]["collectives"]}
        assert set(rows) == {"all-reduce", "reduce-scatter"}
        reduce = rows["all-reduce"]
        assert (reduce["bytes"], reduce["ranks"], reduce["durationNs"]) == (4_000_000, 2, duration)
        assert reduce["group"] == "0x00000000feedbeef"
        # By the kernel's time, not by that of its enqueueing.
        assert reduce["algorithmGbPerS"] == pytest.approx(4_000_000 / duration)
        assert reduce["busGbPerS"] == pytest.approx(4_000_000 / duration)  # 2 (n - 1) / n of two ranks
        # Two that were grouped share a kernel.
        scatter = rows["reduce-scatter"]
        assert (scatter["bytes"], scatter["durationNs"]) == (2_000_000, 100_000)


def test_a_collective_of_a_cuda_graph_is_joined_at_every_replay(record):
    ranks = {rank["rank"]: rank for rank in record("graph", level="full")["ranks"]}
    for rank, duration in ((0, 400_000), (1, 100_000)):
        rows = {row["operation"]: row for row in ranks[rank]["collectives"]}
        # Told once, when it was captured.
        reduce = rows["all-reduce"]
        assert (reduce["bytes"], reduce["ranks"], reduce["durationNs"]) == (4_000_000, 2, duration)
        assert reduce["group"] == "0x00000000feedbeef"
        assert reduce["count"] == rows["reduce-scatter"]["count"] >= 1
        assert rows["reduce-scatter"]["bytes"] == 2_000_000
        # Every kernel of the graph belongs to the function that captured it.
        lines = {row["line"] for row in ranks[rank]["kernelsByLine"]}
        assert lines and all(CAPTURE[0] < line < CAPTURE[1] for line in lines), lines


def test_waits_of_ranks_are_those_of_their_kernels(record):
    report = record("after")
    reduce, = [row for row in report["collectives"] if row["name"] == "all-reduce"]
    # The rank whose kernel is short came last; the other's waited for it.
    assert reduce["lateRank"] == 1 and reduce["lateCount"] == reduce["count"]
    assert reduce["waitNs"] == pytest.approx(300_000 * reduce["count"])
