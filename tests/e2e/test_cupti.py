"""The CUPTI collector against a stand-in for CUPTI: what a script of device work becomes in a run."""
import json
import sys

import pytest

STEP = """
call runtime cudaLaunchKernel_v7000 211 {a} 20000
kernel {a} 0 7 {k} 500000 _Z4gemmPf
call runtime cudaMemcpyAsync_v3020 41 {b} 600000
memcpy {b} 0 7 2 3 1 4 {m} 2000
call runtime cudaStreamSynchronize_v3020 131 {c} 30000
sync {c} 3 7 0 {m} 10000
"""


def script(lines):
    return "\n".join(lines) + "\n"


@pytest.fixture
def record(tool, build, tmp_path):
    app = build / "mock/mock_cupti_app"
    if not app.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")

    def run(text, *arguments, env=None, options=()):
        path = tmp_path / "script.txt"
        path.write_text(text)
        out = tmp_path / "out"
        done = tool("run", "--force", "-o", out, *options, "--", app, path, *arguments, env=env)
        events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
        return done, events, tool.report(out)
    return run


def of_kind(events, kind):
    return [event for event in events if event["kind"] == kind]


def test_calls_and_device_work_are_joined_by_correlation(record):
    text = script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "deliver"])
    _, events, _ = record(text)
    kernel, = of_kind(events, "kernel")
    copy, = of_kind(events, "memcpy")
    calls = {event["name"]: event for event in of_kind(events, "api")}
    assert kernel["name"].startswith("gemm")
    assert kernel["durationNs"] == 500000 and kernel["stream"] == 7 and kernel["device"] == 0
    assert calls["cudaLaunchKernel_v7000"]["correlation"] == kernel["correlation"]
    assert calls["cudaMemcpyAsync_v3020"]["correlation"] == copy["correlation"]
    assert calls["cudaMemcpyAsync_v3020"]["durationNs"] >= 600000
    assert "device-to-host" in json.dumps(copy) and "pageable" in json.dumps(copy)
    assert of_kind(events, "sync")


def test_held_records_arrive_at_the_end(record):
    text = script(["hold", STEP.format(a=1, b=2, c=3, k=30000, m=540000)])
    _, events, _ = record(text)
    assert len(of_kind(events, "kernel")) == 1


@pytest.mark.parametrize("version", ["18", "22", "26", "27", "130001"])
def test_older_record_sizes_are_read(record, version):
    text = script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "event 5 7 3", "overhead 262144 10 20", "deliver"])
    _, events, _ = record(text, env={"MOCK_CUPTI_VERSION": version})
    assert len(of_kind(events, "kernel")) == 1 and len(of_kind(events, "memcpy")) == 1
    overhead, = of_kind(events, "overhead")
    assert overhead["name"] == "module loading"


def test_dropped_records_are_counted(record):
    _, _, report = record(script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "drop 3", "deliver"]))
    assert report["trust"]["lostRecords"] == 3


def test_a_taken_subscription_leaves_device_work_and_is_said(record):
    text = script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "deliver"])
    done, events, report = record(text, env={"MOCK_CUPTI_SUBSCRIBE_RESULT": "39"})
    assert len(of_kind(events, "kernel")) == 1
    assert any("subscription" in warning for warning in report["warnings"]), report["warnings"]


def test_a_forked_child_stays_away_from_cupti(record):
    done, _, _ = record(script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "deliver"]), "fork")
    assert done.stdout.startswith("done")


def test_a_profiler_of_the_program_gets_cupti(record):
    text = script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "deliver"])
    done, events, report = record(text, "profiler")
    assert done.stdout.startswith("done")
    assert len(of_kind(events, "kernel")) == 1  # the second one is the other profiler's
    assert any("a profiler of its own" in warning for warning in report["warnings"]), report["warnings"]
    hole, = report["trust"]["holes"]
    kernel, = of_kind(events, "kernel")
    assert "profiler of the program's own" in hole["reason"]
    assert kernel["startNs"] + kernel["durationNs"] <= hole["startNs"]


# A program whose profiler takes CUPTI over and exports what it saw, as Kineto writes it.
PROFILED = """
import ctypes, json, os, sys, time
cupti = ctypes.CDLL(sys.argv[1])
collector = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
assert collector.InitializeInjection() == 1
script = open(sys.argv[2]).read().encode()
assert cupti.mock_cupti_play(script) == 0
collector.stallscope_profiler_begins()
assert cupti.mock_cupti_subscribers() == 0
base = time.time_ns()
time.sleep(0.01)
collector.stallscope_profiler_ends()
place = {"pid": 0, "tid": 7, "ph": "X", "cat": "kernel"}
args = {"device": 0, "stream": 7, "context": 1, "correlation": 91}
events = [{**place, "name": "theirs", "ts": 1000.0, "dur": 500.0, "args": args},
          {"pid": os.getpid(), "tid": os.getpid(), "ph": "X", "cat": "cuda_runtime",
           "name": "cudaLaunchKernel", "ts": 900.0, "dur": 20.0, "args": {"correlation": 91}}]
json.dump({"schemaVersion": 1, "baseTimeNanoseconds": base, "traceEvents": events},
          open("worker.pt.trace.json", "w"))
time.sleep(0.3)
"""


def test_what_the_other_profiler_exported_fills_the_hole(tool, build, tmp_path):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    (tmp_path / "script.txt").write_text(script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "deliver"]))
    (tmp_path / "train.py").write_text(PROFILED)
    out = tmp_path / "out"
    tool("run", "-q", "-o", out, "--", sys.executable, "train.py", library, "script.txt", cwd=tmp_path,
         env={"STALLSCOPE_CUPTI": str(library)})
    events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
    theirs, = [event for event in of_kind(events, "kernel") if event["name"] == "theirs"]
    hole, = tool.report(out)["trust"]["holes"]
    # On our clock, within the hole that lasts to the end: the buffers are not taken back.
    assert hole["startNs"] <= theirs["startNs"] <= hole["startNs"] + hole["durationNs"]
    assert hole["durationNs"] > 300_000_000
    assert (theirs["durationNs"], theirs["stream"]) == (500_000, 7)
    assert len(of_kind(events, "kernel")) == 2


# Each rank's work takes a time of its own, by which it is told below. The worker's number is that
# of its process, or one that is known inside its container only.
RANKED = PROFILED.replace('"dur": 500.0', '"dur": 500.0 + 100 * int(os.environ["RANK"])') \
    .replace("os.getpid()", "PID") \
    .replace('{"schemaVersion": 1', '{"schemaVersion": 1, "distributedInfo": '
             '{"backend": "nccl", "rank": int(os.environ["RANK"]), "world_size": 2}') \
    .replace("worker.pt", "rank" + '" + os.environ["RANK"] + "' + ".pt")


@pytest.mark.parametrize("pid", ["os.getpid()", "7000 + int(os.environ['RANK'])"], ids=["process", "rank"])
def test_each_ranks_profile_is_joined_to_its_rank(tool, build, tmp_path, pid):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    (tmp_path / "script.txt").write_text(script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "deliver"]))
    (tmp_path / "train.py").write_text(RANKED.replace("PID", pid))
    ranks = " & ".join(f"RANK={rank} {sys.executable} train.py {library} script.txt" for rank in (0, 1))
    out = tmp_path / "out"
    tool("run", "-q", "-o", out, "--", "sh", "-c", f"{ranks} & wait", cwd=tmp_path,
         env={"STALLSCOPE_CUPTI": str(library), "WORLD_SIZE": "2"})
    events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
    theirs = [event for event in of_kind(events, "kernel") if event["name"] == "theirs"]
    assert sorted((event["rank"], event["durationNs"]) for event in theirs) == [(0, 500_000), (1, 600_000)]


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_nccl_profiler_versions(tool, build, tmp_path, version):
    library = build / "lib/libstallscope-collect.so"
    out = tmp_path / "out"
    tool("run", "--force", "-o", out, "--", build / "mock/fake_nccl", library, version)
    calls = {e["name"]: e for e in (json.loads(line) for line in tool("dump", out).stdout.splitlines())}
    text = json.dumps(calls["ncclAllReduce"])
    assert "0xfeedbeef12345678" in text and "RING" in text
    assert '"bytes": 4000' in text and '"sequence": 42' in text
    assert '"bytes": 64' in json.dumps(calls["ncclSend"])
