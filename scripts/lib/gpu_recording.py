"""What is recorded: calls, device work, CUDA graphs, clocks; beside other profilers."""
import collections
import ctypes
import json
import shutil
import sys
import tarfile

from gpu_harness import (OUT, TOOL, NotApplicable, check, events, expect, record, run, torch_facts, written)

LARGEST_TREE = 60e6


@check("doctor: what can be recorded here", anywhere=True)
def doctor():
    report = json.loads(run(TOOL, "doctor", "--format", "json", expected=None).stdout)
    expect(report["recordingWorks"], "recording does not work here")
    return ", ".join(f"{each['name']} {each['ability']}" for each in report["capabilities"])


@check("the install tree is at most 60 MB compressed", anywhere=True)
def install_tree():
    tree = TOOL.parent.parent
    if TOOL.parent.name != "bin":
        raise NotApplicable("the tool was not installed: give the folder that 'cmake --install' filled")
    packed = OUT / "tree.tar.gz"
    with tarfile.open(packed, "w:gz", compresslevel=6) as archive:
        archive.add(tree, "stallscope")
    size = packed.stat().st_size
    packed.unlink()
    expect(size <= LARGEST_TREE, f"{size / 1e6:.1f} MB")
    return f"{size / 1e6:.1f} MB"


# Every way to wait, to ask and to copy, each on a line of its own.
CALLS = """import ctypes, torch
x = torch.ones(1 << 16, device='cuda')
host, pinned = torch.ones(1 << 16), torch.ones(1 << 16).pin_memory()
cudart = ctypes.CDLL([line.split()[-1] for line in open('/proc/self/maps') if 'libcudart' in line][0])
other, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
for _ in range(5):
    y = (x * 2).relu_()
    torch.cuda.synchronize()  # mark: device synchronize
    y = (x * 2).relu_()
    torch.cuda.current_stream().synchronize()  # mark: stream synchronize
    event.record()  # mark: event record
    event.query()  # mark: event query
    torch.cuda.current_stream().query()  # mark: stream query
    event.synchronize()  # mark: event synchronize
    other.wait_event(event)  # mark: stream wait
    y.sum().item()  # mark: item
    y.cpu()  # mark: to host
    x.copy_(host)  # mark: from pageable
    x.copy_(host, non_blocking=True)  # mark: from pageable, non-blocking
    x.copy_(pinned, non_blocking=True)  # mark: from pinned, non-blocking
    pinned.copy_(x, non_blocking=True)  # mark: to pinned, non-blocking
    y = x.clone()  # mark: on the device
    x.zero_()  # mark: fill
    cudart.cudaMemset(ctypes.c_void_p(x.data_ptr()), 0, 64)  # mark: memset
    del y
    torch.cuda.empty_cache()  # mark: free
    y = torch.empty(1 << 26, device='cuda')  # mark: allocation
torch.cuda.synchronize()
"""
BLOCKING = ["device synchronize", "stream synchronize", "event synchronize", "item", "to host", "from pageable"]


def recorded_calls():
    program, marks = written("calls", CALLS)
    if not (OUT / "calls").is_dir():
        record("calls", sys.executable, program)
    return events("calls"), marks


@check("kernels, copies, memsets, events, allocations and streams are there", seconds=25)
def kinds():
    found, _ = recorded_calls()
    counts = collections.Counter(event["kind"] for event in found)
    lacking = {"api", "kernel", "memcpy", "memset", "event-record", "alloc"} - counts.keys()
    expect(not lacking, f"none of {', '.join(sorted(lacking))}")
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


@check("every blocking call leads to its Python line")
def blocking_lines():
    found, marks = recorded_calls()
    lines = {frame["line"] for event in found if event["kind"] == "api"
             for frame in event.get("stack", ()) if isinstance(frame, dict) and frame.get("file", "").endswith("calls.py")}
    lacking = [name for name in BLOCKING if marks[name] not in lines]
    expect(not lacking, f"no call at {', '.join(lacking)}")
    return f"{len(BLOCKING)} of {len(BLOCKING)}"


@check("experiment: which records each sync, query and copy gives")
def records_by_call():
    found, marks = recorded_calls()
    calls = {}
    for event in found:
        for frame in event.get("stack", ()):
            if event["kind"] == "api" and isinstance(frame, dict) and frame.get("file", "").endswith("calls.py"):
                calls.setdefault(frame["line"], {})[event.get("correlation")] = event["name"]
    device = collections.defaultdict(list)
    for event in found:
        if event["kind"] not in ("api", "range", "sample") and event.get("correlation"):
            device[event["correlation"]].append(event["kind"])
    rows = ["| call | API calls | records |", "|---|---|---|"]
    for name, line in marks.items():
        api = calls.get(line, {})
        kinds = collections.Counter(kind for correlation in api for kind in device[correlation])
        rows.append(f"| {name} | {', '.join(sorted(set(api.values())))} "
                    f"| {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))} |")
    (OUT / "records-by-call.md").write_text("\n".join(rows) + "\n")
    return f"{len(marks)} calls in {OUT / 'records-by-call.md'}"


@check("nothing is lost in an ordinary run")
def nothing_lost():
    recorded_calls()
    lost = json.loads((OUT / "calls/report.json").read_text())["trust"]["lostRecords"]
    expect(not lost, f"{lost} records")


@check("loading and compiling of device code are told")
def loading():
    found, _ = recorded_calls()
    names = collections.Counter(event["name"] for event in found
                                if event["kind"] == "api" and event.get("detail") == "module-load")
    if not names:
        raise NotApplicable("this program loaded nothing that CUPTI told of")
    return ", ".join(f"{count} {name}" for name, count in sorted(names.items()))


GRAPH = """import torch
x = torch.randn(256, 256, device='cuda')
y = torch.empty_like(x)
def body():
    torch.mm(x, x, out=y)  # mark: first
    torch.mm(y, y, out=x)  # mark: second
    x.div_(x.norm())
body()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    body()
for _ in range(50):
    graph.replay()  # mark: replay
torch.cuda.synchronize()
"""


def graph_check(level):
    @check(f"nodes of CUDA graphs lead to the lines that captured them (--gpu {level})")
    def graphs():
        program, line = written("graph", GRAPH)
        _, report = record(f"graph-{level}", sys.executable, program, options=("--gpu", level))
        rows = [row for rank in report["ranks"] for row in rank["graphs"] or ()]
        lines = {row["line"] for row in rows}
        expect({line["first"], line["second"]} <= lines, f"captured at lines {sorted(map(str, lines))}")
        expect(all((row["replayedAt"] or "").endswith(f":{line['replay']}") for row in rows), "replayed elsewhere")
        expect(any(row["replays"] == 50 for row in rows), f"replays {sorted({row['replays'] for row in rows})}")
        return f"{sum(row['nodes'] for row in rows):.0f} nodes at {len(lines)} lines"


for each in ("light", "full"):
    graph_check(each)

LONG = """import time, torch
x, end = torch.randn(512, 512, device='cuda'), time.monotonic() + 15
while time.monotonic() < end:
    (x @ x).sum().item()
    time.sleep(0.05)
"""


@check("experiment: residual of the clock conversion", seconds=40)
def clock():
    program, _ = written("long", LONG)
    _, report = record("clock", sys.executable, program)
    residual = report["trust"]["clockResidualNs"]
    expect(residual is not None, "no residual is known")
    return f"{residual:.0f} ns over 15 s (ten minutes do not fit in here)"


RESET = """import ctypes, glob, os, torch
x = torch.randn(512, 512, device='cuda')
for _ in range(100): x = (x @ x).clamp(-1, 1)
torch.cuda.synchronize()
name = [line.split()[-1] for line in open('/proc/self/maps') if 'libcudart' in line][0]
ctypes.CDLL(name).cudaDeviceReset()
os._exit(0)
"""


@check("what was not delivered outlives cudaDeviceReset")
def device_reset():
    program, _ = written("reset", RESET)
    record("reset", sys.executable, program, expected=None)
    kernels = sum(event["kind"] == "kernel" for event in events("reset"))
    expect(kernels >= 200, f"{kernels} kernels of at least 200")
    return f"{kernels} kernels"


WINDOW = """import torch
x = torch.randn(512, 512, device='cuda')
def before(): return (x @ x).sum().item()
def inside(): return torch.relu(x).sum().item()
before(); torch.cuda.profiler.start(); inside(); torch.cuda.profiler.stop(); before()
"""


@check("--capture cuda-profiler records the window only")
def capture_window():
    program, _ = written("window", WINDOW)
    _, report = record("window", sys.executable, program, options=("--capture", "cuda-profiler"))
    stacks = str([event.get("stack") for event in events("window") if event["kind"] == "api"])
    expect("inside" in stacks and "'before'" not in stacks, "calls of the wrong function")
    expect(any("window" in warning for warning in report["warnings"]), "the window is not stated")


@check("torch.profiler's own profile keeps its GPU events")
def torch_profiler():
    program = ("import torch, torch.profiler as p\n"
               "x = torch.randn(512, 512, device='cuda')\n"
               "with p.profile(activities=[p.ProfilerActivity.CPU, p.ProfilerActivity.CUDA]) as prof:\n"
               "    (x @ x).sum().item()\n"
               "print(any(e.device_time_total > 0 for e in prof.key_averages()))\n")
    done, _ = record("coexist", sys.executable, "-c", program)
    expect(done.stdout.strip().endswith("True"), "the program's own profile lost its GPU events")


@check("torch.profiler's exported trace fills the hole that it left")
def own_profile():
    program, _ = written("profiled", (
        "import torch, torch.profiler as p\n"
        "x = torch.randn(512, 512, device='cuda')\n"
        "for i in range(20): (x @ x).sum().item()\n"
        "with p.profile(activities=[p.ProfilerActivity.CPU, p.ProfilerActivity.CUDA]) as prof:\n"
        "    for i in range(5): (x @ x).sum().item()\n"
        f"prof.export_chrome_trace({str(OUT / 'own.json')!r})\n"))
    _, report = record("own-profile", sys.executable, program)
    expect(report["trust"]["holes"], "the window of the profiler is no hole")
    expect(any("fills the hole" in warning for warning in report["warnings"]), "its profile was not read")


@check("under another profiler (nsys) what still works is kept and said", seconds=30)
def other_profiler():
    if not shutil.which("nsys"):
        raise NotApplicable("nsys is not installed")
    program, _ = written("calls", CALLS)
    shutil.rmtree(OUT / "under-nsys", ignore_errors=True)
    run("nsys", "profile", "-f", "true", "-o", OUT / "theirs", TOOL, "run", "-q", "-o", OUT / "under-nsys", "--",
        sys.executable, program)
    report = json.loads((OUT / "under-nsys/report.json").read_text())
    expect(events("under-nsys"), "nothing was kept")
    return "; ".join(report["warnings"])[:150]


@check("experiment: libcupti.so.13 in a program of CUDA 12")
def other_major_version():
    if not torch_facts()["cuda"].startswith("12"):
        raise NotApplicable(f"this PyTorch is built for CUDA {torch_facts()['cuda']}")
    try:
        ctypes.CDLL("libcupti.so.13")
    except OSError:
        raise NotApplicable("libcupti.so.13 is not here") from None
    program, _ = written("calls", CALLS)
    _, report = record("cupti-13", sys.executable, program, env={"STALLSCOPE_CUPTI": "libcupti.so.13"})
    kernels = sum(event["kind"] == "kernel" for event in events("cupti-13"))
    return f"{kernels} kernels; {'; '.join(report['warnings'])[:120]}"
