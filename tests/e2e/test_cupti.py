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
    assert calls["cudaLaunchKernel"]["correlation"] == kernel["correlation"]
    assert calls["cudaMemcpyAsync"]["correlation"] == copy["correlation"]
    assert calls["cudaMemcpyAsync"]["durationNs"] >= 600000
    assert "device-to-host" in json.dumps(copy) and "pageable" in json.dumps(copy)
    assert of_kind(events, "sync")


def test_calls_of_the_driver_have_their_stacks(record):
    """XLA, Triton and CuPy call no runtime."""
    text = script(["call driver cuMemcpyHtoDAsync_v2 277 4 20000", "call driver cuMemAlloc_v2 243 5 20000",
                   "call driver cuEventRecord 119 6 20000", "deliver"])
    _, events, _ = record(text)
    stacks = {event["name"]: event.get("stack", []) for event in of_kind(events, "api")}
    for name in ("cuMemcpyHtoDAsync", "cuMemAlloc"):
        assert any(frame["function"] == "main" for frame in stacks[name]), stacks
    assert stacks["cuEventRecord"] == []


def test_a_call_of_the_driver_within_a_recorded_one_is_not_told_again(record):
    """cudaLaunchKernel calls cuLaunchKernel, under the same correlation: one call, one stack."""
    text = script(["call runtime cudaLaunchKernel_v7000 211 1 20000 cuLaunchKernel 307", "kernel 1 0 7 30000 1000 first",
                   "call driver cuLaunchKernel 307 2 20000", "kernel 2 0 7 60000 1000 second",
                   "call runtime cudaEventRecord_v3020 135 3 20000 cuMemAlloc_v2 243", "deliver"])
    _, events, _ = record(text)
    calls = [(event["name"], event["correlation"]) for event in of_kind(events, "api")]
    assert sorted(calls) == [("cuLaunchKernel", 2), ("cuMemAlloc", 3), ("cudaEventRecord", 3), ("cudaLaunchKernel", 1)]
    assert len(of_kind(events, "kernel")) == 2


def test_held_records_arrive_at_the_end(record):
    text = script(["hold", STEP.format(a=1, b=2, c=3, k=30000, m=540000)])
    _, events, _ = record(text)
    assert len(of_kind(events, "kernel")) == 1


@pytest.mark.parametrize("version", ["18", "22", "26", "27", "130001"])
def test_older_record_sizes_are_read(record, version):
    text = script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "event 5 7 3", "overhead 262144 10 20", "deliver"])
    _, events, _ = record(text, env={"MOCK_CUPTI_VERSION": version})
    assert len(of_kind(events, "kernel")) == 1 and len(of_kind(events, "memcpy")) == 1
    assert "module loading" in {event["name"] for event in of_kind(events, "api")}


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
    # Also the very first event of a process has its begin by the trace's clock.
    assert all(0 <= call["durationNs"] < 1_000_000_000 for call in calls.values())


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_what_nccl_proxies_do_is_joined_to_its_collective(tool, build, tmp_path, version):
    out = tmp_path / "out"
    tool("run", "--force", "--gpu", "full", "-o", out, "--", build / "mock/fake_nccl",
         build / "lib/libstallscope-collect.so", version)
    events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
    collective, = [event for event in events if event["name"] == "ncclAllReduce"]
    ours = [event for event in of_kind(events, "range") if event.get("sequence") == 42]
    by_name = {event["name"].removesuffix(", channel = 3"): event for event in ours}
    assert len(ours) == 5 and set(by_name) == {"NCCL kernel on its channel", "NCCL network plugin", "NCCL proxy send",
                                               "NCCL proxy step"}
    assert all(event["group"] == collective["group"] and event["collective"] == "AllReduce" for event in ours)
    assert all(event["name"].endswith(", channel = 3") for event in ours)
    send, step = by_name["NCCL proxy send"], by_name["NCCL proxy step"]
    assert (send["bytes"], send["peer"], step.get("bytes")) == (1024, 0, 512 if version >= 4 else None)
    # Of the process beside this one, and of a collective that is long forgotten, no more is said than is known.
    others = [event for event in of_kind(events, "range") if "NCCL proxy" in event["name"] and event not in ours]
    assert sorted(event["peer"] for event in others) == [0, 7]
    assert not any("sequence" in event or "group" in event for event in others)


def test_only_proxy_operations_are_asked_for_at_the_light_level(tool, build, tmp_path):
    out = tmp_path / "out"
    tool("run", "--force", "--gpu", "light", "-o", out, "--", build / "mock/fake_nccl",
         build / "lib/libstallscope-collect.so", 5)
    names = {json.loads(line)["name"] for line in tool("dump", out).stdout.splitlines()}
    assert "ncclAllReduce" in names and not any("step" in name or "channel" in name for name in names)


CONTEXT_ENDS = {"reset": "call runtime cudaDeviceReset_v3020 164 9 1000", "thread exit": "call runtime cudaThreadExit_v3020 123 9 1000",
                "destroyed": "call driver cuCtxDestroy_v2 322 9 1000", "destroyed, old": "call driver cuCtxDestroy 11 9 1000",
                "primary reset": "call driver cuDevicePrimaryCtxReset_v2 545 9 1000",
                "primary released": "call driver cuDevicePrimaryCtxRelease_v2 544 9 1000"}


@pytest.mark.parametrize("way", CONTEXT_ENDS)
def test_what_was_not_delivered_outlives_its_context(record, way):
    text = script(["hold", STEP.format(a=1, b=2, c=3, k=30000, m=540000), CONTEXT_ENDS[way], "lose"])
    _, events, report = record(text)
    assert len(of_kind(events, "kernel")) == 1 and len(of_kind(events, "memcpy")) == 1
    # The call itself is there as well, after what it ends.
    call, = [event for event in of_kind(events, "api") if event["correlation"] == 9]
    assert call["name"] in CONTEXT_ENDS[way] and report["trust"]["lostRecords"] == 0


@pytest.mark.parametrize("version", [18, 22, 130001])
def test_compiling_and_loading_code_is_the_programs_work(record, version):
    text = script(["jit 5 1 3 1000 400000", "jit 5 2 3 500000 1000", "jit 5 1 1 600000 1000", "jit 5 1 2 700000 1000",
                   "overhead 1 800000 1000", "overhead 262144 810000 1000", "overhead 327680 820000 1000",
                   "overhead 131072 830000 1000", "deliver"])
    _, events, _ = record(text, env={"MOCK_CUPTI_VERSION": str(version)})
    calls = {event["name"]: event for event in of_kind(events, "api")}
    assert set(calls) == {"JIT: PTX compiled to cubin", "JIT: NVVM IR compiled to PTX", "JIT: cubin read from the cache",
                          "JIT: cubin put into the cache", "driver compiler", "module loading", "lazy function loading"}
    assert all(event["detail"] == "module-load" for event in calls.values())
    assert calls["JIT: PTX compiled to cubin"]["durationNs"] == 400000
    # On the thread that waited for it, where its record tells.
    assert all(event["tid"] == event["pid"] for name, event in calls.items() if "JIT" not in name or version >= 22)
    profiler, = of_kind(events, "overhead")
    assert profiler["name"] == "CUPTI instrumentation"


def test_contexts_and_streams_are_told(record):
    text = script(["context 1 0 7", "stream 1 7 3 0", "stream 1 20 2 -5", "stream 1 21 1 0", "deliver"])
    _, events, _ = record(text)
    told = [(event["name"], event["context"], event["stream"]) for event in of_kind(events, "marker")]
    assert told == [("CUDA context", 1, 7), ("CUDA stream, default", 1, 7),
                    ("CUDA stream, non-blocking, priority -5", 1, 20), ("CUDA stream", 1, 21)]


def test_a_copy_between_devices_and_a_launch_by_the_driver(record):
    text = script(["internal 4 3000", "kernel 4 0 7 1000 500 inner", "call runtime cudaMemcpyPeerAsync_v4000 161 5 1000",
                   "peer 5 0 7 1 4096 2000 700", "deliver"])
    _, events, _ = record(text)
    launch, = [event for event in of_kind(events, "api") if event["correlation"] == 4]
    assert launch["detail"] == "launch" and launch["tid"] == launch["pid"] and launch["durationNs"] >= 3000
    copy, = of_kind(events, "memcpy")
    assert (copy["detail"], copy["bytes"], copy["durationNs"], copy["correlation"]) == ("peer", 4096, 700, 5)


def test_work_that_the_device_had_no_room_to_time_is_counted_as_lost(record):
    text = script([STEP.format(a=1, b=2, c=3, k=30000, m=540000), "untimed 4 0 7 gemm", "untimed 5 0 7 gemm", "deliver"])
    _, events, report = record(text)
    assert len(of_kind(events, "kernel")) == 1
    assert report["trust"]["lostRecords"] == 2


ENDING = """
import ctypes, os, sys
import equinox  # a library that is watched: its import sets the marks
cupti = ctypes.CDLL(sys.argv[1])
assert ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection() == 1
assert cupti.mock_cupti_play(open(sys.argv[2]).read().encode()) == 0
"""


@pytest.mark.parametrize("end", ["os._exit(0)", "os.execvp('true', ['true'])"], ids=["exit", "exec"])
def test_what_was_not_delivered_outlives_an_end_without_clean_up(tool, build, tmp_path, end):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    (tmp_path / "script.txt").write_text(script(["hold", STEP.format(a=1, b=2, c=3, k=30000, m=540000)]))
    (tmp_path / "equinox.py").write_text("")
    (tmp_path / "train.py").write_text(ENDING + end + "\n")
    out = tmp_path / "out"
    tool("run", "-q", "-o", out, "--", sys.executable, "train.py", library, "script.txt", cwd=tmp_path,
         env={"STALLSCOPE_CUPTI": str(library)})
    events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
    assert len(of_kind(events, "kernel")) == 1
