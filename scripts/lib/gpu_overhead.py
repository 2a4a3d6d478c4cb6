"""What recording costs: steps of small trainings with and without it, alternating, each in a process of its own."""
import datetime
import os
import pathlib
import shutil
import statistics
import sys

from gpu_harness import OUT, TOOL, NotApplicable, check, expect, gpus, run, written

# Prints the median time of a step in microseconds; the losses never leave the device.
TRAIN = """import statistics, sys, time, torch
from torch import nn
size, way, profiler = sys.argv[1:4]
width, layers, batch = {'nano': (384, 6, 32), 'small': (64, 4, 8)}[size]
torch.manual_seed(0)
layer = lambda: nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
model = nn.Sequential(*[layer() for _ in range(layers)], nn.Linear(width, width)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=way == 'graph')
rows = torch.randn(batch, 128, width, device='cuda')
forward = torch.compile(model) if way == 'compiled' else model
def step():
    optimizer.zero_grad(set_to_none=way != 'graph')
    forward(rows).square().mean().backward()
    optimizer.step()
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(8): step()
torch.cuda.synchronize()
if way == 'graph':
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph): step()
    step = graph.replay
def measure(steps):
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        for _ in range(10): step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / 10)
    return times
measure(5)
if profiler == 'torch.profiler':
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]): times = measure(40)
else:
    times = measure(40)
print(statistics.median(times) * 1e6)
"""
LIMITS = {("light", "eager"): 0.01, ("full", "eager"): 0.03, ("light", "compiled"): 0.01, ("full", "compiled"): 0.03,
          ("light", "graph"): 0.01}
ROUNDS = int(os.environ.get("ROUNDS", 3))
_costs = {"light": [], "full": []}


def step_us(kind, size, way):
    """One process's median step; `kind`: plain, light, full, torch.profiler or nsys."""
    program, _ = written("train", TRAIN)
    command = [sys.executable, program, size, way, kind]
    if kind in ("light", "full"):
        command = [TOOL, "run", "-q", "--no-report", "--force", "--gpu", kind, "-o", OUT / "overhead", "--", *command]
    elif kind == "nsys":
        command = ["nsys", "profile", "-f", "true", "-o", OUT / "overhead-nsys", *command]
    return float(run(*command, timeout=120).stdout.strip().splitlines()[-1])


def compare(size, way, kinds, rounds):
    """The cost of each kind as a share of the plain step: median over rounds, in which they take turns."""
    times = {kind: [] for kind in ("plain", *kinds)}
    for _ in range(rounds):
        for kind in times:
            times[kind].append(step_us(kind, size, way))
    plain = statistics.median(times["plain"])
    spread = (max(times["plain"]) - min(times["plain"])) / plain
    return plain, spread, {kind: statistics.median(times[kind]) / plain - 1 for kind in kinds}


def overhead_check(size, way, rounds, seconds):
    @check(f"cost of recording: {size} model, {way}", seconds=seconds)
    def cost():
        kinds = ["light", "full"] + (["torch.profiler"] if way == "eager" else [])
        if shutil.which("nsys") and way == "eager":
            kinds.append("nsys")
        plain, spread, costs = compare(size, way, kinds, rounds)
        for level in ("light", "full"):
            _costs[level].append(f"{costs[level]:+.1%} {size} {way}")
        text = ", ".join(f"{kind} {value:+.2%}" for kind, value in costs.items())
        for level in ("light", "full"):
            limit = LIMITS.get((level, way))
            expect(limit is None or costs[level] <= limit, f"{level} is over {limit:.0%}: {text} (plain runs differ by {spread:.1%})")
        return f"step {plain:.0f} us (plain runs differ by {spread:.1%}): {text}"


overhead_check("nano", "eager", ROUNDS, 60)
overhead_check("small", "eager", ROUNDS, 60)
overhead_check("small", "graph", ROUNDS, 45)
overhead_check("small", "compiled", 1, 60)
overhead_check("nano", "compiled", 1, 60)


@check("what --gpu light and full cost is kept for --help and the reports", torch=False, seconds=0)
def keep():
    if not _costs["light"]:
        raise NotApplicable("nothing was measured")
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    path = pathlib.Path(cache) / "stallscope/gpu-cost"
    path.parent.mkdir(parents=True, exist_ok=True)
    where = f"{gpus()[0].replace(',', ', driver')}, {datetime.date.today()}"
    path.write_text("".join(f"{level} {', '.join(costs)} of a step ({where})\n" for level, costs in _costs.items()))
    return str(path)
