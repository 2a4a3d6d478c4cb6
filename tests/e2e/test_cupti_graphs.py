"""CUDA graphs against a stand-in for CUPTI: what a graph runs is charged to the line that captured it."""
import json
import sys

import pytest

PROGRAM = """\
import ctypes, os, sys
play = ctypes.CDLL(sys.argv[1]).mock_cupti_play
assert ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection() == 1
correlation = 0


def forward():
    assert play(b"node 1 101\\nnode 1 102") == 0  # mark: forward


def update():
    assert play(b"node 1 103 1") == 0  # mark: update


def instantiate(graph, source, executable):
    # As the driver does it: every node of a graph is cloned.
    nodes = ["clone %d %d %d %d" % (graph, graph * 100 + i, source, source * 100 + i) for i in (1, 2, 3)]
    assert play("\\n".join(nodes + ["exec %d %d" % (executable, source)]).encode()) == 0


def replay(graph, executable):
    global correlation
    correlation += 1
    script = \"\"\"
call runtime cudaGraphLaunch_v10000 311 {c} 20000
kernel {c} 0 7 30000 300000 gemm {g} {n}1
kernel {c} 0 7 330000 100000 gelu {g} {n}2
memcpy {c} 0 7 8 3 3 4096 430000 50000 {g} {n}3
graph {c} 0 7 {e} 30000 450000
sleep 600000
deliver
\"\"\".format(c=correlation, g=executable, n=graph * 10, e=executable)
    assert play(script.encode()) == 0  # mark: replay


forward()
update()
KIND
print("done")
"""

KINDS = {
    # One instantiation; the graph is run five times.
    "instantiated": "instantiate(2, 1, 20)\nfor step in range(5):\n    replay(2, 20)",
    # cudaGraphClone, and the clone is instantiated.
    "cloned": "instantiate(3, 1, 30)\ninstantiate(4, 3, 40)\nfor step in range(5):\n    replay(4, 40)",
    # Instantiated again half-way.
    "instantiated again": "instantiate(2, 1, 20)\nfor step in range(2):\n    replay(2, 20)\n"
                          "instantiate(5, 1, 50)\nfor step in range(3):\n    replay(5, 50)",
}


@pytest.fixture
def record(tool, build, tmp_path):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")

    def run(text, level):
        program, out = tmp_path / "train.py", tmp_path / "out"
        program.write_text(text)
        tool("run", "-q", "--force", "--gpu", level, "-o", out, "--", sys.executable, program, library,
             env={"STALLSCOPE_CUPTI": str(library)})
        events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
        rank, = tool.report(out)["ranks"]
        return events, rank
    return run


def marked(text):
    return {line.split("# mark: ")[1]: number
            for number, line in enumerate(text.splitlines(), 1) if "# mark: " in line}


@pytest.mark.parametrize("kind", KINDS)
def test_a_nodes_kernel_is_charged_to_the_line_that_captured_it(record, kind):
    text = PROGRAM.replace("KIND", KINDS[kind])
    events, rank = record(text, "full")
    line = marked(text)
    by_line = {row["line"]: row for row in rank["kernelsByLine"]}
    assert set(by_line) == {line["forward"]}
    assert (by_line[line["forward"]]["count"], by_line[line["forward"]]["totalNs"]) == (10, 5 * 400000)
    # Each run leads to the launch of the graph that made it.
    launches = {e["correlation"] for e in events if e["name"].startswith("cudaGraphLaunch")}
    kernels = [e for e in events if e["kind"] == "kernel"]
    assert len(kernels) == 10 and {e["correlation"] for e in kernels} == launches
    replays = [3, 2] if kind == "instantiated again" else [5]
    assert sorted((row["line"], row["nodes"], row["replays"]) for row in rank["graphs"]) == \
        sorted((line[name], nodes, count) for count in replays for name, nodes in (("forward", 2), ("update", 1)))
    assert all(row["replayedAt"].endswith(f"train.py:{line['replay']}") for row in rank["graphs"])
    update = [row for row in rank["graphs"] if row["line"] == line["update"]]
    assert sum(row["durationNs"] for row in update) == 5 * 50000


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_graph_is_recorded_once_and_its_lines_are_known(record, kind):
    text = PROGRAM.replace("KIND", KINDS[kind])
    events, rank = record(text, "light")
    line = marked(text)
    assert not [e for e in events if e["kind"] in ("kernel", "memcpy")]
    assert len([e for e in events if e["kind"] == "graph-launch"]) == 5
    kernels = rank["kernels"]
    assert {row["name"].split(" graph ")[0] for row in kernels} == {"CUDA"}
    assert sum(row["count"] for row in kernels) == 5
    assert {row["line"] for row in kernels} == {line["replay"]}
    lines = {(row["line"], row["nodes"]) for row in rank["graphs"]}
    assert lines == {(line["forward"], 2), (line["update"], 1)}
    assert all(row["durationNs"] is None and row["graphNs"] == 450000 * row["replays"] for row in rank["graphs"])


def test_a_node_of_unknown_origin_is_charged_to_its_launch(record):
    text = PROGRAM.replace("KIND", "replay(2, 20)")
    _, rank = record(text, "full")
    assert {row["line"] for row in rank["kernelsByLine"]} == {marked(text)["replay"]}
    assert rank["graphs"] == []
