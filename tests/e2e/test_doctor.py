"""`stallscope doctor`: each thing that recording takes by its name, with the remedy where it is not there."""
import json
import os
import shutil

import pytest

NAMES = ["nvtx", "cuda-driver", "gpu-permission", "cupti", "nvml", "nccl", "mpi", "python", "process-memory",
         "native-frames", "annotate", "clock", "disk"]


def doctor(tool, env=None, check=0):
    done = tool("doctor", "--format", "json", env=env, check=check)
    return json.loads(done.stdout)


def named(report):
    return {each["name"]: each for each in report["capabilities"]}


def test_everything_is_named_with_a_remedy_where_it_lacks(tool):
    report = doctor(tool)
    assert [each["name"] for each in report["capabilities"]] == NAMES
    assert report["schemaVersion"] == "1.0" and report["recordingWorks"] is True
    for each in report["capabilities"]:
        assert each["ability"] in ("yes", "limited", "no") and each["detail"], each
        assert each["remedy"] or each["ability"] == "yes", each
        assert each["ability"] != "no" or not each["required"], each


def test_the_text_says_the_same(tool):
    text = tool("doctor").stdout
    for name, each in named(doctor(tool)).items():
        line = next(line for line in text.splitlines() if line[8:24].strip() == name)
        assert line[:8].strip() == each["ability"]
        assert name == "disk" or each["detail"] in line  # room on a disk comes and goes
        assert each["remedy"] is None or f"-> {each['remedy']}" in text
    assert text.endswith("Recording works here.\n")


@pytest.mark.parametrize("has", [True, False])
def test_mpi_names_its_launcher(tool, tmp_path, has):
    launcher = tmp_path / "mpirun"
    if has:
        launcher.write_text("#!/bin/sh\n")
        launcher.chmod(0o755)
    mpi = named(doctor(tool, {"PATH": str(tmp_path)}))["mpi"]
    assert mpi["ability"] == "yes"  # whatever MPI a program brings
    assert (f"mpirun is {launcher}" if has else "no mpirun on PATH") in mpi["detail"]


def test_clocks_say_which_counter_is_used(tool):
    clock = named(doctor(tool))["clock"]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((line.split(":")[1].split() for line in file if line.startswith("flags")), [])
    constant = {"constant_tsc", "nonstop_tsc"} <= set(flags)
    assert clock["ability"] == ("yes" if constant else "limited")
    assert "time-stamp counter is" + ("" if constant else " not") + " constant" in clock["detail"]


def test_a_disk_that_cannot_be_written_means_that_nothing_works(tool, tmp_path):
    report = doctor(tool, {"TMPDIR": str(tmp_path / "none")}, check=2)
    disk = named(report)["disk"]
    assert (disk["ability"], disk["required"], report["recordingWorks"]) == ("no", True, False)
    assert str(tmp_path / "none") in disk["detail"] and "TMPDIR" in disk["remedy"]
    text = tool("doctor", env={"TMPDIR": str(tmp_path / "none")}, check=2).stdout
    assert text.endswith("Nothing can be recorded here.\n")
    assert f"{tmp_path} has " in named(doctor(tool, {"TMPDIR": str(tmp_path)}))["disk"]["detail"]


@pytest.mark.parametrize("name,variable", [("nvtx", "NVTX_INJECTION64_PATH"), ("nccl", "NCCL_PROFILER_PLUGIN")])
def test_a_place_that_another_tool_has_is_said(tool, name, variable):
    found = named(doctor(tool, {variable: "/opt/theirs.so"}))[name]
    assert found["ability"] == "limited"
    assert "/opt/theirs.so" in found["detail"] and "unset" in found["remedy"]


def test_cupti_and_nvml_are_found_and_their_versions_told(tool, build):
    if not (build / "mock/libcupti.so.13").exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    found = named(doctor(tool, {"LD_LIBRARY_PATH": f"{build}/mock:{build}/mock/nvml",
                                "MOCK_NVML": "clock=600 max=1980 reasons=0x0"}))
    assert found["cupti"]["ability"] == "yes" and "version 13." in found["cupti"]["detail"]
    assert found["nvml"]["ability"] == "yes" and "GPUs are sampled" in found["nvml"]["detail"]


@pytest.mark.parametrize("names,ability,said", [
    ({"python3.14": 1}, "yes", "python3.14 (3.14)"),
    ({"python3.14t": 1}, "no", "python3.14t (3.14t, its stacks cannot be read)"),
    ({"python3.7": 1}, "no", "python3.7 (3.7, its stacks cannot be read)"),
    ({"python3.12": 0}, "no", "no Python on PATH"),  # a script, as pyenv's are
    ({"python3.13t": 1, "python3.13": 1}, "yes", "python3.13 (3.13)"),
], ids=["supported", "free-threaded", "old", "script", "both"])
def test_interpreters_on_path_are_judged_by_their_version(tool, tmp_path, names, ability, said):
    for name, is_program in names.items():
        if is_program:
            shutil.copy(os.path.realpath("/bin/true"), tmp_path / name)
        else:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)
    python = named(doctor(tool, {"PATH": str(tmp_path), "PYENV_ROOT": str(tmp_path / "none")}))["python"]
    assert python["ability"] == ability and said in python["detail"]
    assert (ability == "yes") or "3.8 to 3.14" in python["remedy"]
