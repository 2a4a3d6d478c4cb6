"""`report --reference`: the reference trainer beside a run."""
import json

import pytest

SHAPE = ["--model", "bert", "--layers", 2, "--hidden", 64, "--batch", 4, "--seq", 32,
         "--vocabulary", 500, "--steps", 8]


@pytest.fixture(scope="module")
def reference(tool, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "out"
    tool("bench", *SHAPE, "-o", folder)
    return folder


def test_the_run_and_the_reference_stand_side_by_side(tool, build, source, reference, tmp_path):
    tool("run", "-q", "-o", tmp_path / "run", "--", build / "samples/item-in-step-stalled",
         check=None)
    done = tool("report", tmp_path / "run", "--reference", reference / "reference.json",
                "-o", tmp_path / "out")
    report = tool.report(tmp_path / "out")
    compared = report["reference"]
    assert compared["refused"] is None
    assert compared["stepTimeNs"] == report["summary"]["stepTimeNs"]["median"]
    bench = json.loads((reference / "reference.json").read_text())
    assert compared["referenceStepTimeNs"] == bench["stepTimeNs"]["median"]
    classes = {row["name"]: row for row in compared["classes"]}
    # What the sample waits for, the reference does not.
    assert classes["host-sync"]["differenceNs"] > 0
    for row in report["breakdown"]:
        assert classes[row["class"]]["runNs"] == row["durationNs"]
    groups = {row["name"]: row for row in compared["groups"]}
    assert groups["matrix products"]["referenceFlops"] > 0
    assert groups["matrix products"]["runLaunches"] > 10
    assert "host-sync" in done.stdout and "a well-written one" in done.stdout
    page = (tmp_path / "out/report.html").read_text()
    assert "one of the reference" in page and "Not like for like" in page
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(report, json.loads((source / "reports/report.schema.json").read_text()))


def test_auto_finds_the_shape_in_the_command_line(tool, reference, tmp_path):
    done = tool("report", reference, "--reference", "auto", "-o", tmp_path / "out")
    assert "model=bert" in done.stderr
    compared = tool.report(tmp_path / "out")["reference"]
    assert compared["description"].startswith("bert, 2 layers, hidden 64, batch 4, sequence 32")


def test_auto_asks_for_a_shape_it_cannot_find(tool, build, tmp_path):
    tool("run", "-q", "-o", tmp_path / "run", "--", build / "samples/item-in-step-fixed",
         check=None)
    done = tool("report", tmp_path / "run", "--reference", "auto", "-o", tmp_path / "out", check=2)
    assert "--shape" in done.stderr


@pytest.mark.parametrize("trace", ["ddp_3steps_rank0.json.gz", "timesformer_h100.json.gz"])
def test_a_gpu_run_is_not_compared_with_a_cpu(tool, reference, shared_traces, tmp_path, trace):
    tool("report", shared_traces / trace, "--reference", reference / "reference.json",
         "-o", tmp_path / "out")
    compared = tool.report(tmp_path / "out")["reference"]
    assert compared["refused"] and compared["classes"] == []


@pytest.mark.parametrize("content", [
    "", "{", "[]", "null", '{"kind": "stallscope-reference"}',
    '{"kind": "stallscope-reference", "stepTimeNs": {"median": "fast"}}',
    '{"kind": "stallscope-reference", "stepTimeNs": {"median": -1}}'])
def test_what_is_no_reference_is_refused(tool, reference, tmp_path, content):
    (tmp_path / "broken.json").write_text(content)
    done = tool("report", reference, "--reference", tmp_path / "broken.json",
                "-o", tmp_path / "out", check=2)
    assert "broken.json" in done.stderr


def test_odd_fields_are_unknown_not_a_crash(tool, reference, tmp_path):
    bench = json.loads((reference / "reference.json").read_text())
    bench.update(breakdown={"a": 1}, groups=[1, {"group": 3}, {"group": "loss", "timeNs": "x"}],
                 layers=None, model=[1])
    (tmp_path / "odd.json").write_text(json.dumps(bench))
    tool("report", reference, "--reference", tmp_path / "odd.json", "-o", tmp_path / "out")
    compared = tool.report(tmp_path / "out")["reference"]
    assert all(row["referenceNs"] is None for row in compared["classes"])


def transformer_trace(path, steps=6, tables=((30522, 64), (512, 64), (2, 64)), attention="aten::softmax"):
    """Operators of a small BERT on the CPU as a profiler writes them, with the shapes of their inputs."""
    events, now = [], 1e6

    def operator(name, dims):
        nonlocal now
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": now, "dur": 400,
                       "args": {"Input Dims": dims}})
        now += 500

    for step in range(steps):
        start = now
        for rows, width in tables:
            operator("aten::embedding", [[rows, width], [4, 32], [], [], []])
        for _ in range(2):
            operator("aten::linear", [[4, 32, 64], [64, 64], [64]])
            operator(attention, [[4, 4, 32, 32 if attention == "aten::softmax" else 16], [], []])
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
                       "tid": 1, "ts": start, "dur": now - start, "args": {}})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


@pytest.mark.parametrize("attention", ["aten::softmax", "aten::scaled_dot_product_attention"])
def test_auto_finds_the_shape_in_recorded_operator_shapes(tool, tmp_path, attention):
    trace = transformer_trace(tmp_path / "trace.json", attention=attention)
    done = tool("report", trace, "--reference", "auto", "-o", tmp_path / "out")
    assert ("model=bert,layers=2,hidden=64,heads=4,batch=4,seq=32,vocabulary=30522"
            in done.stderr)
    compared = tool.report(tmp_path / "out")["reference"]
    assert compared["description"].startswith("bert, 2 layers, hidden 64, batch 4, sequence 32")


def test_operators_that_are_no_transformer_tell_no_shape(tool, tmp_path):
    trace = transformer_trace(tmp_path / "trace.json", attention="aten::relu")
    done = tool("report", trace, "--reference", "auto", "-o", tmp_path / "out", check=2)
    assert "--shape" in done.stderr
