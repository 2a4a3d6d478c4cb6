"""What goes wrong on GPU machines, against a stand-in for CUPTI: the program is never harmed, what was
recorded stays, and the report says what is missing."""
import json
import os
import subprocess

import pytest

from conftest import TOOL

STEP = """
call runtime cudaLaunchKernel_v7000 211 1 2000
kernel 1 0 7 30000 500000 _Z4gemmPf
call runtime cudaStreamSynchronize_v3020 131 2 3000
deliver
"""


@pytest.fixture(scope="module")
def app(build):
    program = build / "mock/mock_cupti_app"
    if not program.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    return program


@pytest.fixture
def record(tool, app, tmp_path):
    def run(*command, check=0, env=None, script=STEP):
        (tmp_path / "script.txt").write_text(script)
        out = tmp_path / "out"
        command = command or ([app, "script.txt"],)
        done = tool("run", "-q", "--force", "-o", out, "--", *command[0], cwd=tmp_path, check=check, env=env)
        events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
        return done, events, tool.report(out)
    return run


def kernels(events):
    return [event for event in events if event["kind"] == "kernel"]


@pytest.mark.parametrize("result", ["999", "14", "15", "4"], ids=["none", "too-old", "not-ready", "no-device"])
def test_a_driver_that_refuses_is_said_and_harms_nothing(record, result):
    done, events, report = record(env={"MOCK_CUPTI_ENABLE_RESULT": result})
    assert done.stdout.startswith("done")
    assert not kernels(events)
    assert any("is the driver new enough" in warning for warning in report["warnings"]), report["warnings"]


@pytest.mark.parametrize("library", ["/nonexistent/libcupti.so.12", "libc.so.6"], ids=["missing", "other"])
def test_a_cupti_that_is_not_there_or_not_one_is_said(record, library):
    done, events, report = record(env={"STALLSCOPE_CUPTI": library})
    assert done.stdout.startswith("done")
    assert not kernels(events)
    assert any("libcupti" in warning for warning in report["warnings"]), report["warnings"]


def test_the_cupti_of_the_programs_own_major_version_is_used(record, app, build, tmp_path):
    # Only that of CUDA 12 is in the process; the search path has none of 13.
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libcupti.so.12").symlink_to(build / "mock/libcupti.so.13")
    done, events, _ = record(env={"LD_PRELOAD": str(folder / "libcupti.so.12"), "MOCK_CUPTI_VERSION": "22"})
    assert done.stdout.startswith("done") and len(kernels(events)) == 1


@pytest.mark.parametrize("way,code", [("exit", 3), ("kill", 137)])
def test_what_was_delivered_outlives_a_sudden_end(record, app, way, code):
    _, events, _ = record([app, "script.txt", way], check=code)
    assert len(kernels(events)) == 1
    assert [event["name"] for event in events if event["kind"] == "api"] == [
        "cudaLaunchKernel", "cudaStreamSynchronize"]


def test_a_program_that_replaces_itself_is_recorded_before_and_after(record, app):
    _, events, report = record([app, "script.txt", "exec"])
    assert len(kernels(events)) == 2
    assert not any("end of the run may be missing" in warning for warning in report["warnings"])


def test_a_program_without_memory_goes_on(record, app):
    done, events, _ = record([app, "script.txt", "memory"])
    assert done.returncode == 0
    # What comes after the last byte was gone is there as well: its place was had before.
    assert len(kernels(events)) == 2
    assert len([event for event in events if event["name"] == "cudaStreamSynchronize"]) == 2


def test_a_signal_that_the_program_waits_for_ends_no_thread_of_ours(record, app):
    done, events, _ = record([app, "script.txt", "signal"], script=STEP + "sleep 100000000\n")
    assert done.stdout.startswith("done") and len(kernels(events)) == 1


def test_two_processes_on_one_gpu_keep_their_work_apart(record, app):
    # Both number their calls from 1: the process is a part of what joins them.
    both = f"RANK=0 {app} script.txt & RANK=1 {app} script.txt & wait"
    _, events, report = record(["sh", "-c", both], env={"WORLD_SIZE": "2"})
    assert sorted((event["rank"], event["device"]) for event in kernels(events)) == [(0, 0), (1, 0)]
    for rank in (0, 1):
        launch, = [event for event in events if event["name"] == "cudaLaunchKernel" and event["rank"] == rank]
        kernel, = [event for event in kernels(events) if event["rank"] == rank]
        assert (launch["pid"], launch["correlation"]) == (kernel["pid"], kernel["correlation"])
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1]


def test_a_part_of_a_gpu_is_told_nothing_of_the_whole(tool, app, build, tmp_path):
    # What NVML says of a GPU that is divided holds for all its parts together.
    (tmp_path / "script.txt").write_text(STEP + "sleep 1500000000\n")
    out = tmp_path / "out"
    tool("run", "-q", "-o", out, "--", app, "script.txt", cwd=tmp_path,
         env={"CUDA_VISIBLE_DEVICES": "MIG-aa11bb22", "LD_LIBRARY_PATH": str(build / "mock/nvml"),
              "MOCK_NVML": "clock=600 max=1980 reasons=0x4", "CUDA_MPS_PIPE_DIRECTORY": str(tmp_path)})
    events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
    assert len(kernels(events)) == 1
    counters = {event["name"] for event in events if event["kind"] == "counter"}
    assert counters and not any(name.startswith("gpu") for name in counters), counters


def test_five_hundred_starts_and_stops_under_load(app, build, tmp_path):
    """Each program loads the recorder, works on three threads and ends while two of them call on."""
    (tmp_path / "script.txt").write_text(STEP.replace("deliver\n", ""))
    environment = {**os.environ, "STALLSCOPE_OUT": str(tmp_path / "out"),
                   "STALLSCOPE_GPU": "light", "STALLSCOPE_MAX_BYTES": str(4 << 20),
                   "CUDA_INJECTION64_PATH": str(build / "lib/libstallscope-collect.so"),
                   "STALLSCOPE_CUPTI": str(build / "mock/libcupti.so.13")}
    (tmp_path / "out").mkdir()
    # Four at a time, on however few cores there are; a program that hangs is a failure.
    loop = (f"i=0; while [ $i -lt 125 ]; do i=$((i+1)); timeout 60 {app} script.txt threads > /dev/null "
            "|| { echo failed $?; exit 1; }; rm -f $STALLSCOPE_OUT/*.ssg; done")
    loops = [subprocess.Popen(["sh", "-c", loop], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                              env={**environment, "STALLSCOPE_OUT": str(folder)})
             for folder in [tmp_path / f"out{i}" for i in range(4)] if folder.mkdir() is None]
    said = [process.communicate(timeout=280)[0] for process in loops]
    assert [process.returncode for process in loops] == [0] * 4, said
