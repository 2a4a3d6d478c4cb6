"""Runs recorded on a GPU (samples/traces): the stalled program shows its line, the fixed twin does not."""
import tarfile

import pytest

from expected_lines import expected_line

TRACES = {"h200/cuda-item-in-step": ("item-in-step", "cuda/item-in-step/stalled.cu"),
          "h200/pytorch-item-in-step": ("item-in-step", "pytorch/item-in-step/stalled.py"),
          "h200/pytorch-blocking-host-to-device": ("blocking-host-to-device", "pytorch/blocking-host-to-device/stalled.py"),
          "h200/pytorch-mask-recreated": ("mask-recreated", "pytorch/mask-recreated/stalled.py"),
          "h200/pytorch-many-small-collectives": ("many-small-collectives", "pytorch/many-small-collectives/stalled.py")}


@pytest.fixture(scope="module")
def unpacked(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")

    def unpack(name):
        with tarfile.open(source / "samples/traces" / f"{name}.tar.xz") as archive:
            archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        return folder / name.split("/")[-1]
    return unpack


@pytest.mark.parametrize("name", TRACES)
def test_the_stalled_program_shows_its_line_and_the_fixed_twin_does_not(tool, source, unpacked, tmp_path, name):
    rule, path = TRACES[name]
    folder = unpacked(name)
    reports = {}
    for variant in ("stalled", "fixed"):
        tool("report", folder / variant, "-q", "-o", tmp_path / variant)
        reports[variant] = tool.report(tmp_path / variant)
        assert reports[variant]["trust"]["verdict"] == "given"
    found = {variant: [f for f in report["findings"] if f["ruleId"] == rule] for variant, report in reports.items()}
    assert found["fixed"] == []
    [finding] = found["stalled"]
    assert finding["status"] == "measured"
    [place] = finding["locations"]
    assert place["file"].endswith(path) and place["line"] == expected_line(source / "samples" / path)[0]


def test_the_line_of_a_run_meets_what_lint_finds_in_the_source(tool, source, unpacked, tmp_path):
    """Recorded elsewhere, joined with the source here by --path-map: one finding with the column that only source has."""
    folder = unpacked("h200/pytorch-item-in-step")
    tool("report", folder / "stalled", "-q", "-o", tmp_path, "--source", source / "samples/pytorch",
         "--path-map", f"/home/user={source}")
    [finding] = [f for f in tool.report(tmp_path)["findings"] if f["ruleId"] == "item-in-step"]
    assert finding["status"] == "measured"
    assert finding["locations"][0]["column"] == 14
    assert any(e["name"] == "host blocked" and e["value"] > 0 for e in finding["evidence"])


def test_what_calls_the_recorder_back_is_not_shown_as_the_programs(tool, unpacked, tmp_path):
    tool("report", unpacked("h200/pytorch-item-in-step") / "stalled", "-q", "-o", tmp_path)
    [finding] = [f for f in tool.report(tmp_path)["findings"] if f["ruleId"] == "item-in-step"]
    functions = [frame["function"] for frame in finding["stack"]]
    assert any("_local_scalar_dense" in function for function in functions)
    assert not any("cupti" in function for function in functions)
