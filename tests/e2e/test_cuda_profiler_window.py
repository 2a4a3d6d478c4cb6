"""--capture cuda-profiler: what the program does between cudaProfilerStart and cudaProfilerStop."""
import json
import sys

import pytest
from test_cupti import of_kind

pytestmark = pytest.mark.timed

# Two windows of the program's choice: calls and kernels before, between and behind them are not
# wanted; nor is what Python did there.
WINDOWED = """
import ctypes, json, os, sys, time
cupti = ctypes.CDLL(sys.argv[1])
collector = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
assert collector.InitializeInjection() == 1
def play(text):
    assert cupti.mock_cupti_play(text.encode()) == 0
listed = []
def work(name):
    # What PyTorch's flight recorder keeps of a collective, as the marks of --annotate leave it.
    time.sleep(0.005)
    listed.append({"kind": "collective", "name": "gloo:" + name, "startNs": time.time_ns(), "durationNs": 1000,
                   "pid": os.getpid(), "tid": os.getpid(), "detail": "all-reduce", "group": "g", "async": 1})
    time.sleep(0.005)
    play("call runtime cudaStreamSynchronize_v3020 131 1 1000\\ncall runtime cudaGetLastError_v3020 10 2 1000\\n"
         f"kernel 1 0 7 0 500 {name}\\ndeliver")
def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def unwanted():
    busy(0.3)
def wanted():
    busy(0.6)
START, STOP = sys.argv[2:]
unwanted()
work("before")
play(START)
wanted()
work("first")
play(STOP)
unwanted()
work("between")
play(START)
work("second")
# Delivered late: it belongs to the window in which it ran.
play("hold\\nkernel 2 0 7 0 500 late")
play(STOP)
work("behind")
unwanted()
with open(os.path.join(os.environ["STALLSCOPE_OUT"], "%d.1.collectives" % os.getpid()), "w") as file:
    file.write("".join(json.dumps(line) + "\\n" for line in listed))
"""
RUNTIME_CALLS = ["call runtime cudaProfilerStart_v4000 {runtime_start} 8 1000",
                 "call runtime cudaProfilerStop_v4000 {runtime_stop} 9 1000"]
DRIVER_CALLS = ["call driver cuProfilerStart {driver_start} 8 1000",
                "call driver cuProfilerStop {driver_stop} 9 1000"]
CALL_IDS = {"runtime_start": 171, "runtime_stop": 172, "driver_start": 308, "driver_stop": 309}


@pytest.fixture
def record_window(tool, build, tmp_path):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    (tmp_path / "train.py").write_text(WINDOWED)
    out = tmp_path / "out"

    def run(calls, *options, env=None):
        calls = [call.format(**CALL_IDS) for call in calls]
        done = tool("run", "-o", out, *options, "--", sys.executable, "train.py", library, *calls,
                    cwd=tmp_path, env={"STALLSCOPE_CUPTI": str(library), **(env or {})})
        return done, [json.loads(line) for line in tool("dump", out).stdout.splitlines()], tool.report(out)
    return run


def kernel_names(events):
    return {event["name"] for event in of_kind(events, "kernel")}


def collective_names(events):
    return {event["name"] for event in of_kind(events, "collective")}


def samples_in(events, function):
    return sum(any(frame.get("function") == function for frame in event["stack"])
               for event in of_kind(events, "sample"))


@pytest.mark.parametrize("calls", [RUNTIME_CALLS, DRIVER_CALLS], ids=["runtime", "driver"])
def test_cuda_profiler_bounds_the_recording(record_window, calls):
    done, events, report = record_window(calls, "--capture", "cuda-profiler")
    assert kernel_names(events) == {"first", "second", "late"}
    # Of cudaGetLastError and kin there are no records, in a window that opens later neither.
    assert [event["name"] for event in of_kind(events, "api") if "Profiler" not in event["name"]] == [
        "cudaStreamSynchronize"] * 2
    # A sample's stack is read a moment after its time: at a border it may show what came after.
    assert samples_in(events, "unwanted") <= 2 < samples_in(events, "wanted")
    assert collective_names(events) == {"gloo:first", "gloo:second"}
    hole, = report["trust"]["holes"]
    assert "outside cudaProfilerStart" in hole["reason"] and hole["durationNs"] >= 300_000_000
    assert any("2 windows" in warning for warning in report["warnings"]), report["warnings"]
    assert report["environment"]["capture"] == "cuda-profiler"


@pytest.mark.parametrize("options", [(), ("--capture", "all")], ids=["default", "all"])
def test_without_it_everything_is_recorded(record_window, options):
    _, events, report = record_window(RUNTIME_CALLS, *options)
    assert kernel_names(events) == {"before", "first", "between", "second", "late", "behind"}
    assert samples_in(events, "wanted") and samples_in(events, "unwanted")
    assert collective_names(events) == {f"gloo:{name}" for name in ("before", "first", "between", "second", "behind")}
    assert report["trust"]["holes"] == []


def test_a_window_that_never_opens_records_nothing_and_says_so(record_window):
    _, events, report = record_window(["sleep 1", "sleep 1"], "--capture", "cuda-profiler")
    assert not any(of_kind(events, kind) for kind in ("kernel", "sample", "api", "collective"))
    assert any("never called cudaProfilerStart" in warning for warning in report["warnings"])


@pytest.mark.parametrize("env", [{"MOCK_CUPTI_SUBSCRIBE_RESULT": "39"}, {"STALLSCOPE_CUPTI": "/nowhere.so"}],
                         ids=["taken", "missing"])
def test_calls_that_cannot_be_followed_lose_no_run(record_window, env):
    _, events, report = record_window(RUNTIME_CALLS, "--capture", "cuda-profiler", env=env)
    assert samples_in(events, "wanted") and samples_in(events, "unwanted")
    assert any("cannot be followed" in warning for warning in report["warnings"]), report["warnings"]


def test_without_device_events_the_window_cannot_be_asked_for(tool):
    done = tool("run", "--gpu", "none", "--capture", "cuda-profiler", "--", "true", check=2)
    assert "--capture range:NAME" in done.stderr


def test_capture_takes_no_other_word(tool):
    assert "expected all, cuda-profiler or range:NAME" in tool("run", "--capture", "range", "--", "true", check=2).stderr
