"""That the program is never harmed: forks, sudden ends, failures, other processes on the GPU."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from gpu_harness import OUT, TOOL, NotApplicable, check, events, expect, left, record, run, written


def kernels_in(name):
    return sum(event["kind"] == "kernel" for event in events(name))


@check("a DataLoader forks after CUDA is up: no hang")
def forked_worker():
    program = ("import torch, torch.utils.data as d\n"
               "x = torch.ones(8, device='cuda')\n"
               "class Rows(d.Dataset):\n"
               "    def __len__(self): return 64\n"
               "    def __getitem__(self, i): return torch.ones(4) * i\n"
               "for b in d.DataLoader(Rows(), 8, num_workers=2): x += b.to('cuda').sum()\n"
               "print(x[0].item())\n")
    plain = run(sys.executable, "-c", program).stdout
    done, _ = record("fork", sys.executable, "-c", program)
    expect(done.stdout == plain, f"{done.stdout!r} instead of {plain!r}")


KILLED = """import os, signal, time, torch
x = torch.ones(1024, 1024, device='cuda')
for i in range(2000): x = (x @ x).clamp(0, 1)
torch.cuda.synchronize()
time.sleep(%s)
%s
"""


@check("experiment: loss at SIGKILL against the flush interval", seconds=25)
def killed():
    counts = {}
    for pause in (0, 1):
        program, _ = written("killed", KILLED % (pause, "os.kill(os.getpid(), signal.SIGKILL)"))
        record("killed", sys.executable, program, expected=128 + signal.SIGKILL)
        counts[pause] = kernels_in("killed")
    expect(counts[1] >= 4000, f"{counts[1]} kernels of 4000, a second after the last")
    return f"{counts[0]} kernels of 4000 when killed at once, {counts[1]} a second later (flushed every 0.25 s)"


@check("os._exit")
def sudden_exit():
    program, _ = written("exit", KILLED % (0.6, "os._exit(7)"))
    record("exit", sys.executable, program, expected=7)
    kernels = kernels_in("exit")
    expect(kernels >= 4000, f"{kernels} kernels of 4000")


@check("exec: the program is recorded before and after", seconds=20)
def replaced():
    program, _ = written("exec", "import os, sys, torch\nx = torch.ones(64, 64, device='cuda')\n"
                         "for i in range(50): x = (x @ x).clamp(0, 1)\ntorch.cuda.synchronize()\n"
                         "if len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, __file__, 'again'])\n")
    record("exec", sys.executable, program)
    kernels = kernels_in("exec")
    expect(kernels >= 200, f"{kernels} kernels of 200")


@check("the target runs out of device memory")
def out_of_memory():
    program, _ = written("memory", "import torch\ntry:\n    x = [torch.empty(1 << 33, device='cuda') for _ in range(200)]\n"
                         "except torch.cuda.OutOfMemoryError:\n    x = None\n"
                         "print(torch.ones(8, device='cuda').sum().item())\n")
    done, _ = record("memory", sys.executable, program)
    expect(done.stdout.strip() == "8.0", f"{done.stdout!r}")


@check("no device is visible: the program runs as without recording")
def no_device():
    program, _ = written("hidden", "import torch\nprint(torch.cuda.is_available(), torch.ones(8).sum().item())\n")
    done, _ = record("hidden", sys.executable, program, env={"CUDA_VISIBLE_DEVICES": ""})
    expect(done.stdout.strip() == "False 8.0", f"{done.stdout!r}")


@check("the driver is missing, too old or of another major version")
def other_driver():
    raise NotApplicable("this machine has one driver; tests/e2e/test_cupti_faults.py has a stand-in for each")


@check("two processes on one GPU keep their work apart", seconds=20)
def two_processes():
    program, _ = written("shared", "import torch\nx = torch.ones(64, 64, device='cuda')\n"
                         "for i in range(100): x = (x @ x).clamp(0, 1)\ntorch.cuda.synchronize()\n")
    both = " & ".join(f"RANK={rank} {sys.executable} {program}" for rank in (0, 1))
    _, report = record("shared", "sh", "-c", f"{both} & wait", env={"WORLD_SIZE": "2"})
    counts = {rank: sum(event["kind"] == "kernel" and event.get("rank") == rank for event in events("shared"))
              for rank in (0, 1)}
    expect(min(counts.values()) >= 200, f"kernels by rank {counts}")
    return f"{sum(counts.values())} kernels of {len(report['ranks'])} ranks"


@check("MIG: parts of a GPU")
def parts():
    modes = subprocess.run(["nvidia-smi", "--query-gpu=mig.mode.current", "--format=csv,noheader"],
                           capture_output=True, text=True).stdout
    if "Enabled" not in modes:
        raise NotApplicable("MIG is off here")
    record("mig", sys.executable, "-c", "import torch; print(torch.ones(8, device='cuda').sum().item())")
    return f"{kernels_in('mig')} kernels"


@check("MPS: processes share a GPU by its server")
def shared_by_server():
    folder = pathlib.Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps"))
    if not folder.is_dir():
        raise NotApplicable("no MPS server runs here")
    record("mps", sys.executable, "-c", "import torch; print(torch.ones(8, device='cuda').sum().item())")
    return f"{kernels_in('mps')} kernels"


# Without PyTorch, so that many fit: a context comes and goes.
CONTEXT = """import ctypes
cuda, context, device = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p(), ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuCtxSynchronize() == 0
memory = ctypes.c_uint64()
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), 1 << 20) == 0 and cuda.cuMemsetD8_v2(memory, 0, 1 << 20) == 0
print('done')
"""


@check("500 starts and stops under load, as many as 40 s hold", torch=False, seconds=60)
def starts_and_stops():
    program, _ = written("context", CONTEXT)
    end, done = time.monotonic() + min(40, left() - 15), 0
    while time.monotonic() < end and done < 500:
        # Four at a time: they are each other's load.
        group = [subprocess.Popen([TOOL, "run", "-q", "--no-report", "--force", "-o", OUT / f"starts-{i}", "--",
                                   sys.executable, program], stdout=subprocess.PIPE, text=True) for i in range(4)]
        for process in group:
            out, _ = process.communicate(timeout=60)
            expect(process.returncode == 0 and out == "done\n", f"exit code {process.returncode} after {done} runs")
            done += 1
    return f"{done} runs"


@check("the node's counters: clocks, power and memory of the GPU", torch=False)
def node_counters():
    record("node", sys.executable, "-c", "import time; time.sleep(2)")
    names = {event["name"] for event in events("node") if event["kind"] == "counter"}
    gpu = sorted(name for name in names if name.startswith("gpu"))
    expect(gpu, f"counters {json.dumps(sorted(names))[:120]}")
    return ", ".join(gpu)[:150]
