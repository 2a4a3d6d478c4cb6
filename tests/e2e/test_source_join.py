"""Findings of an imported trace meet those of static analysis, wherever the source lies here."""
import gzip

import pytest

from kineto_steps import write_trace

# PyTorch's profiler names functions by their first lines: train_step() by 40, log_loss() by 52.
TRAIN = {
    1: "import torch",
    40: "def train_step(model, loader, optimizer):",
    41: "    for x in loader:",
    42: "        loss = model(x)",
    43: "        loss.backward()",
    44: "        optimizer.step()",
    45: "        log_loss(loss)",
    52: "def log_loss(loss):",
    53: "    text = 'loss'",
    54: "    print(text, loss.item())",
}


def write_source(path, **lines):
    """TRAIN with other lines: l55="..."."""
    path.parent.mkdir(parents=True, exist_ok=True)
    all_lines = {**TRAIN, **{int(name[1:]): text for name, text in lines.items()}}
    path.write_text("".join(all_lines.get(n, "") + "\n" for n in range(1, 61)))


def reads(tool, folder, *options):
    """The findings about reads of a value, by file and line."""
    tool("report", "trace.json.gz", "-o", "out", "-q", *options, cwd=folder, check=0)
    return {(f["locations"][0]["file"], f["locations"][0]["line"]): f
            for f in tool.report(folder / "out")["findings"] if f["ruleId"] == "item-in-step"}


@pytest.fixture
def trace(tmp_path):
    write_trace(tmp_path / "trace.json.gz", sync=True)
    return tmp_path


def rename(trace, old, new):
    path = trace / "trace.json.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(old.encode(), new.encode())))


def test_a_function_named_by_a_profiler_is_met_by_its_one_read(tool, trace):
    write_source(trace / "source/train.py")
    found = reads(tool, trace, "--source", "source")
    assert [line for _, line in found] == [54]
    (finding,) = found.values()
    assert finding["status"] == "measured" and finding["gain"]
    assert "loss.item()" in finding["snippet"]["lines"][54 - finding["snippet"]["firstLine"]]


def test_of_several_reads_in_a_function_none_gets_the_cost(tool, trace):
    write_source(trace / "source/train.py", l56="    print(text, 2, loss.item())")
    found = reads(tool, trace, "--source", "source")
    assert [line for _, line in found] == [52]
    (finding,) = found.values()
    assert [place["line"] for place in finding["locations"]] == [52, 54, 56]
    assert "lines 54 and 56 may be it" in finding["message"]


def test_what_static_analysis_did_not_find_has_its_lines_from_the_source(tool, trace):
    write_source(trace / "source/train.py", l54="    print(text, helper(loss))")
    (finding,) = reads(tool, trace, "--source", "source").values()
    assert finding["status"] == "measured"
    assert "def log_loss(loss):" in finding["snippet"]["lines"]


def test_files_of_callers_are_analysed_too(tool, trace):
    rename(trace, "train.py(52)", "helpers.py(52)")
    write_source(trace / "helpers.py")
    # It is the caller's, on a line that the trace does not name.
    write_source(trace / "train.py", l46="        print(loss.item())", l52="", l53="", l54="")
    found = reads(tool, trace)
    assert found[(str(trace / "helpers.py"), 54)]["status"] == "measured"
    assert found[(str(trace / "train.py"), 46)]["status"] == "not-seen"


@pytest.mark.parametrize("told", ["option", "file"])
def test_a_path_is_mapped(tool, trace, told):
    rename(trace, "train.py(", "/workspace/job/train.py(")
    for name in ("alpha", "beta"):
        write_source(trace / "source" / name / "train.py")
    beta = str(trace / "source/beta/train.py")
    nobody = reads(tool, trace, "--source", "source")
    assert nobody[("/workspace/job/train.py", 52)]["status"] == "measured"
    if told == "file":
        (trace / "source/stallscope.yml").write_text("path-map: {/workspace/job: beta}\n")
    options = ["--path-map", "/workspace/job=source/beta"] if told == "option" else []
    found = reads(tool, trace, "--source", "source", *options)
    assert found[(beta, 54)]["status"] == "measured"
    assert ("/workspace/job/train.py", 52) not in found
    # A folder whose name begins like it is another one.
    if told == "option":
        other = reads(tool, trace, "--source", "source", "--path-map", "/work=source/beta")
        assert other[("/workspace/job/train.py", 52)]["status"] == "measured"
        assert "OLD=NEW" in tool("report", "trace.json.gz", "--path-map", "x", cwd=trace, check=2).stderr


def test_the_settings_of_the_source_hold_for_a_report(tool, trace):
    write_source(trace / "source/train.py")
    settings = trace / "source/stallscope.yml"
    settings.write_text("severities: {item-in-step: info}\n")
    assert [f["severity"] for f in reads(tool, trace, "--source", "source").values()] == ["info"]
    settings.write_text("ignore: [item-in-step]\n")
    assert reads(tool, trace, "--source", "source") == {}
    rule = tool.report(trace / "out")["rules"]["item-in-step"]
    assert (rule["outcome"], rule["reason"]) == ("not-applicable", "switched off")
    tool("rules", "new", "our-own", "--dir", "source/ours", cwd=trace)
    settings.write_text("rules: [ours]\n")
    reads(tool, trace, "--source", "source")
    assert "our-own" in tool.report(trace / "out")["rules"]
    settings.write_text("ignore: [no-such-rule]\n")
    refused = tool("report", "trace.json.gz", "--source", "source", cwd=trace, check=2).stderr
    assert "no-such-rule" in refused and "stallscope.yml:1" in refused
