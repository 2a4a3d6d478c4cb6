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


def waiting_run(path, product="ampere_sgemm_128x64_tn", launch="launch_kernel"):
    """Steps of a second: twelve products of 40 ms and one that the host waits for before it goes on
    for 300 ms. Times that no load on this machine changes."""
    lines, ms = [], 10**6
    def event(kind, name, start, length, **fields):
        lines.append({"kind": kind, "name": name, "startNs": start, "durationNs": length, **fields})
    for step in range(12):
        at = step * 1000 * ms
        event("range", "step", at, 950 * ms)
        for i in range(13):
            # The last one is launched only after the host has read a result and thought about it.
            launched = at + (i * ms if i < 12 else 800 * ms)
            number = 1 + step * 20 + i
            event("api", launch, launched, 10_000, correlation=number)
            event("kernel", product, at + (1 + 40 * i) * ms if i < 12 else launched + 20_000, 40 * ms,
                  correlation=number, stream=7)
        event("api", "cudaDeviceSynchronize", at + 20 * ms, 779 * ms)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_run_and_the_reference_stand_side_by_side(tool, source, reference, tmp_path):
    run = waiting_run(tmp_path / "run.jsonl")
    done = tool("report", run, "--reference", reference / "reference.json", "-o", tmp_path / "out")
    report = tool.report(tmp_path / "out")
    compared = report["reference"]
    assert compared["refused"] is None
    assert compared["stepTimeNs"] == report["summary"]["stepTimeNs"]["median"]
    bench = json.loads((reference / "reference.json").read_text())
    assert compared["referenceStepTimeNs"] == bench["stepTimeNs"]["median"]
    classes = {row["name"]: row for row in compared["classes"]}
    # What the run waits for, the reference does not.
    assert classes["host-sync"]["runNs"] > 250e6
    theirs = {row["class"]: row["durationNs"] for row in bench["breakdown"]}
    if theirs:
        assert classes["host-sync"]["differenceNs"] == pytest.approx(
            classes["host-sync"]["runNs"] - theirs["host-sync"])
    else:  # a machine with too much else to do leaves the reference no steps to break down
        assert classes["host-sync"]["differenceNs"] is None
    for row in report["breakdown"]:
        assert classes[row["class"]]["runNs"] == row["durationNs"]
    groups = {row["name"]: row for row in compared["groups"]}
    assert groups["matrix products"]["referenceFlops"] > 0
    assert groups["matrix products"]["runLaunches"] == 13
    assert "host-sync" in done.stdout and "a well-written one" in done.stdout
    page = (tmp_path / "out/report.html").read_text()
    assert "one of the reference" in page and "Not like for like" in page
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(report, json.loads((source / "reports/report.schema.json").read_text()))


def test_a_recorded_program_is_compared_or_the_report_says_why_not(tool, build, reference, tmp_path):
    tool("run", "-q", "-o", tmp_path / "run", "--", build / "samples/item-in-step-stalled",
         check=None)
    tool("report", tmp_path / "run", "--reference", reference / "reference.json",
         "-o", tmp_path / "out")
    report = tool.report(tmp_path / "out")
    compared = report["reference"]
    # A machine with too much else to do leaves no step time, and nothing to compare.
    assert (compared["refused"] is None) == (report["summary"]["stepTimeNs"] is not None)
    assert bool(compared["groups"]) == (compared["refused"] is None)


@pytest.mark.parametrize("product,said", [
    ("ampere_sgemm_128x64_tn", []),  # as the reference multiplies
    ("sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n_tilesize64x64", ["tf32 here, fp32 for the reference"]),
    ("ampere_fp16_s16816gemm_fp16_128x64_tn", ["fp16 here, fp32 for the reference"]),
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", ["bf16 here, fp32 for the reference"]),
    ("gemm_kernel", ["the run's own precision, head"])])
def test_another_precision_is_not_like_for_like(tool, reference, tmp_path, product, said):
    run = waiting_run(tmp_path / "run.jsonl", product)
    tool("report", run, "--reference", reference / "reference.json", "-o", tmp_path / "out")
    notes = tool.report(tmp_path / "out")["reference"]["notLikeForLike"]
    about = [note for note in notes if "precision" in note]
    assert len(about) == len(said)
    assert all(words in note for words, note in zip(said, about))


def test_auto_finds_the_shape_in_the_command_line(tool, reference, tmp_path):
    done = tool("report", reference, "--reference", "auto", "-o", tmp_path / "out")
    assert "model=bert" in done.stderr
    compared = tool.report(tmp_path / "out")["reference"]
    assert compared["description"].startswith("bert, 2 layers, hidden 64, batch 4, sequence 32")


@pytest.mark.parametrize("named,lacks", [
    ([], "model, layers, hidden, batch and seq"),
    (["--shape", "model=gpt,layers=2,hidden=64"], "batch and seq"),
    (["--shape", "model=clt,layers=2,hidden=64,batch=1,seq=8,k=2"], "features")])
def test_auto_trains_nothing_at_a_guessed_shape(tool, tmp_path, named, lacks):
    run = waiting_run(tmp_path / "run.jsonl")
    done = tool("report", run, "--reference", "auto", *named, "-o", tmp_path / "out", check=2)
    assert f"nothing tells its {lacks} " in done.stderr and "--shape" in done.stderr


@pytest.mark.parametrize("shape", ["layers", "layers=", "layers=two", "model=llama", "precision=fp8",
                                   "depth=3"])
def test_a_shape_that_is_none_is_refused(tool, tmp_path, shape):
    run = waiting_run(tmp_path / "run.jsonl")
    done = tool("report", run, "--reference", "auto", "--shape", shape, "-o", tmp_path / "out",
                check=2)
    assert f"'{shape}'" in done.stderr


def test_what_a_shape_leaves_out_comes_from_the_operators(tool, tmp_path):
    trace = transformer_trace(tmp_path / "trace.json", tables=((500, 64), (32, 64), (2, 64)))
    done = tool("report", trace, "--reference", "auto", "--shape", "seq=16", "-o", tmp_path / "out")
    assert "model=bert,layers=2,hidden=64,heads=4,batch=4,seq=16,vocabulary=500" in done.stderr
    # What the reference prints of itself is not this command's result.
    assert "model FLOP utilisation" not in done.stderr
    # The run's only class is its step thread's: no part of the step says where the gap lies.
    assert "between them" not in done.stdout


def test_a_reference_of_another_shape_is_not_compared(tool, reference, tmp_path):
    run = waiting_run(tmp_path / "run.jsonl")
    tool("report", run, "--reference", reference / "reference.json", "--shape", "layers=12,seq=512",
         "-o", tmp_path / "out")
    compared = tool.report(tmp_path / "out")["reference"]
    assert compared["refused"] == ("the run has layers 12, the reference 2; sequence 512, the "
                                   "reference 32")


def test_what_is_not_known_of_the_shape_is_said(tool, reference, tmp_path):
    run = waiting_run(tmp_path / "run.jsonl")
    tool("report", run, "--reference", reference / "reference.json", "--shape",
         "model=bert,layers=2,hidden=64,vocabulary=640", "-o", tmp_path / "out")
    notes = tool.report(tmp_path / "out")["reference"]["notLikeForLike"]
    assert "vocabulary: 640 here, 500 for the reference" in notes
    assert ("not known of the run, and taken to be the reference's: batch 4, sequence 32, heads 1"
            in notes)


def test_how_the_reference_was_trained_is_said(tool, reference, tmp_path):
    bench = json.loads((reference / "reference.json").read_text())
    bench.update(dropout=0.1, padding=0.25, accumulate=2, recompute=True, dataParallel=3,
                 disturbed=True)
    (tmp_path / "other.json").write_text(json.dumps(bench))
    run = waiting_run(tmp_path / "run.jsonl")
    tool("report", run, "--reference", tmp_path / "other.json", "-o", tmp_path / "out")
    notes = " | ".join(tool.report(tmp_path / "out")["reference"]["notLikeForLike"])
    for words in ("all head, dropout 0.1, 25.0 % of its tokens padding, gradients of 2 parts added up, "
                  "recomputation", "other programs took the CPUs while the reference ran"):
        assert words in notes


def test_launches_of_cuda_are_a_gpu_where_nothing_names_it(tool, reference, tmp_path):
    run = waiting_run(tmp_path / "run.jsonl", launch="cudaLaunchKernel")
    for what in ("auto", reference / "reference.json"):
        tool("report", run, "--reference", what, "-o", tmp_path / "out")
        compared = tool.report(tmp_path / "out")["reference"]
        assert compared["refused"] == ("the run used a GPU (CUDA), the reference runs on CPUs only")
    tool("report", run, "--reference", "auto", "-o", tmp_path / "out")
    assert tool.report(tmp_path / "out")["reference"]["referenceStepTimeNs"] is None


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


def transformer_trace(path, steps=6, tables=((30522, 64), (512, 64), (2, 64)), attention="aten::softmax",
                      element=None):
    """Operators of a small BERT on the CPU as a profiler writes them, with the shapes of their inputs."""
    events, now = [], 1e6

    def operator(name, dims, types=None):
        nonlocal now
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": now, "dur": 400,
                       "args": {"Input Dims": dims, **({"Input type": types} if types else {})}})
        now += 500

    for step in range(steps):
        start = now
        for rows, width in tables:
            operator("aten::embedding", [[rows, width], [4, 32], [], [], []])
        for _ in range(2):
            operator("aten::linear", [[4, 32, 64], [64, 64], [64]])
            if element:
                operator("aten::addmm", [[64], [128, 64], [64, 64]], [element] * 3)
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


@pytest.mark.parametrize("element,precision", [("c10::BFloat16", "bf16"), ("float", "fp32"),
                                               ("c10::Half", "fp16")])
def test_auto_takes_the_precision_of_the_run(tool, multiplies_bf16, tmp_path, element, precision):
    trace = transformer_trace(tmp_path / "trace.json", tables=((500, 64), (32, 64), (2, 64)),
                              element=element)
    done = tool("report", trace, "--reference", "auto", "-o", tmp_path / "out")
    # The reference has no fp16, and bf16 not everywhere: it keeps to fp32.
    takes = precision == "fp32" or (precision == "bf16" and multiplies_bf16)
    assert ("precision=" + precision in done.stderr) == takes
    report = tool.report(tmp_path / "out")
    assert report["environment"]["products.precision"] == precision


def test_operators_that_are_no_transformer_tell_no_shape(tool, tmp_path):
    trace = transformer_trace(tmp_path / "trace.json", attention="aten::relu")
    done = tool("report", trace, "--reference", "auto", "-o", tmp_path / "out", check=2)
    assert "--shape" in done.stderr
