"""--annotate: what it marks, and that the program is the same with and without."""
import json
import socket

import pytest

from python_packages import python_with

TRAIN = """
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.AdamW(model.parameters())
data = DataLoader(TensorDataset(torch.randn(320, 64), torch.randint(4, (320,))), batch_size=16, num_workers=WORKERS)
for x, y in data:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
print("loss", loss.item().hex())
"""

# Graphs, breaks and losses of compiled steps, with collectives that break the graph.
COMPILED = """
import json, os, torch, torch.distributed as dist
from torch._dynamo.utils import counters
torch.manual_seed(0)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = torch.nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x):
    loss = model(x).square().mean()
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    dist.barrier()
    optimizer.step()
    return loss
counts = {}
for name, function, arguments in [("model", lambda x: model(x).sum(), (torch.ones(2, 16),)),
                                  ("step", step, (torch.ones(2, 16),)), ("optimizer", optimizer.step, ())]:
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(function, backend="eager")
    for _ in range(2):
        result = compiled(*arguments)
    counts[name] = [counters["stats"]["unique_graphs"], sum(counters["graph_break"].values())]
counts["weight"] = model.weight.sum().item().hex()
print(json.dumps(counts))
"""


def run(tool, out, python, text, *options, **settings):
    program = out.parent / "program.py"
    program.write_text(text)
    return tool("run", "-q", "-o", out, *options, "--", python, program, cwd=out.parent, **settings)


def ranges(tool, out):
    lines = tool("dump", out, "--kind", "range").stdout.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("workers", [0, 2])
def test_phases_of_a_pytorch_program_without_ranges(tool, tmp_path, workers):
    python, out = python_with("torch"), tmp_path / "out"
    text = TRAIN.replace("WORKERS", str(workers))
    plain = run(tool, tmp_path / "off", python, text, "--annotate", "off").stdout
    assert run(tool, out, python, text).stdout == plain  # the loss, bit for bit
    names = [event["name"] for event in ranges(tool, out) if event["tid"] == event["pid"]]
    assert names.count("optimizer.step") == names.count("backward") == 20
    iterator = "_MultiProcessingDataLoaderIter" if workers else "_SingleProcessDataLoaderIter"
    assert names.count(f"enumerate(DataLoader)#{iterator}.__next__") == 21
    assert names.count("torch.save checkpoint") == 1
    rank, = [rank for rank in tool.report(out)["ranks"] if rank["stepMarker"]]
    assert (rank["stepMarker"], rank["stepsUsed"] + rank["stepsDiscarded"]) == ("optimizer.step", 20)
    report = tool.report(out)
    assert report["environment"]["torch.cudnn_benchmark"] == "0"  # what PyTorch begins with
    annotations = report["annotations"]
    assert {"backward", "optimizer.step", "torch.save checkpoint"} <= set(annotations["marked"])
    assert annotations["calls"] >= 60
    # Each mark takes its time, and no millisecond of it.
    assert 0 < annotations["ownNs"] / annotations["calls"] < 1_000_000
    page = (out / "report.html").read_text()
    assert "Cost of annotations" in page and f"{annotations['calls']} calls" in page
    assert tool.report(tmp_path / "off")["annotations"] is None
    assert ranges(tool, tmp_path / "off") == []


def test_compiled_graphs_are_the_same(tool, tmp_path):
    python = python_with("torch")
    off = run(tool, tmp_path / "off", python, COMPILED, "--annotate", "off").stdout
    on = run(tool, tmp_path / "on", python, COMPILED).stdout
    counts = json.loads(off)
    assert json.loads(on) == counts
    assert counts["model"] == [1, 0] and counts["step"][1] > 0


def test_the_programs_own_sitecustomize_runs(tool, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text("import builtins; builtins.mine = 'theirs'\n")
    text = "import sys, sitecustomize\nprint(mine, sitecustomize.__file__, [p for p in sys.path if 'stallscope' in p])"
    done = run(tool, tmp_path / "out", python_with(), text, env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.stdout == f"theirs {tmp_path}/site/sitecustomize.py []\n"


def test_a_program_without_a_known_library_is_left_alone(tool, tmp_path):
    text = "import sys; print(sorted(m for m in sys.modules if 'stallscope' in m), 'ctypes' in sys.modules)"
    done = run(tool, tmp_path / "out", python_with(), text)
    assert done.stdout == "[] False\n"
    assert (done.returncode, done.stderr) == (0, "")


GLOO = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(1000) * dist.get_rank()
for _ in range(5):
    dist.all_reduce(x)
    work = dist.all_reduce(torch.ones(10), async_op=True)
    work.wait()
dist.barrier()
if dist.get_rank() == 0:
    print("sum", x[0].item())
dist.destroy_process_group()
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_collectives_of_gloo_ranks(tool, tmp_path):
    python, out = python_with("torch"), tmp_path / "out"
    program = tmp_path / "program.py"
    program.write_text(GLOO)
    port = free_port()
    done = tool("run", "-q", "-o", out, "--", python, "-m", "torch.distributed.run", "--nproc-per-node", "2",
                "--master-port", str(port), program, timeout=120)
    assert "sum 16.0" in done.stdout
    events = [json.loads(line) for line in tool("dump", out, "--kind", "collective").stdout.splitlines()]
    for rank in (0, 1):
        mine = [event for event in events if event["rank"] == rank]
        large = [event for event in mine if event["bytes"] == 4000]
        calls = [event for event in large if event["detail"] == "all-reduce"]
        assert [event["sequence"] for event in calls] == [1, 3, 5, 7, 9]
        assert all(event["payload"]["worldSize"] == 2 for event in calls)
        # What waits for it by itself is one event; a handle that is waited for later, two.
        assert [event["detail"] for event in large] == ["all-reduce"] * 5
        small = [event for event in mine if event["bytes"] == 40]
        assert [event["detail"] for event in small] == ["all-reduce", "wait"] * 5
        assert not any(event["detail"] == "wait" for event in mine if event not in small)
        assert sum(event.get("async") == 1 for event in mine) == 5
        assert sum(event["detail"] == "barrier" for event in mine) == 1
    groups = {event["group"] for event in events if event.get("bytes")}
    assert len(groups) == 1
    assert {rank["rank"] for rank in tool.report(out)["ranks"]} == {0, 1}


# As much of torch as joining others takes; the real one is not everywhere.
JOINING = {
    "torch/__init__.py": "",
    "torch/distributed/__init__.py": "from .distributed_c10d import *\n",
    "torch/distributed/distributed_c10d.py": """
class ProcessGroup: pass
class Work: pass
joined = []
def init_process_group(backend, rank, world_size): joined.append((rank, world_size))
def get_rank(): return joined[0][0]
def get_world_size(): return joined[0][1]
""",
    "program.py": """
import gc, os, subprocess, sys
if len(sys.argv) == 1:
    sys.exit(sum(p.wait() for p in [subprocess.Popen([sys.executable, __file__, rank]) for rank in "01"]))
import torch.distributed as dist
dist.init_process_group("gloo", rank=int(sys.argv[1]), world_size=2)
# One write: where Python does not buffer, print() writes each part alone and ranks meet inside a line.
sys.stdout.write(f"rank {dist.get_rank()} {dist.init_process_group.__name__}\\n")
gc.collect()
""",
}


def test_ranks_that_no_launcher_named(tool, tmp_path):
    for name, text in JOINING.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    done = tool("run", "-q", "-o", out, "--no-report", "--", python_with(), tmp_path / "program.py", cwd=tmp_path)
    assert sorted(done.stdout.splitlines()) == ["rank 0 init_process_group", "rank 1 init_process_group"]
    collections = [event for event in ranges(tool, out) if event["name"] == "gc"]
    assert {event["rank"] for event in collections if "rank" in event} == {0, 1}


DDP = """
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.manual_seed(0)
torch.set_num_threads(1)
dist.init_process_group("gloo")
layers = [torch.nn.Linear(100, 100) for _ in range(BUCKETS)]
model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.03)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 100)).square().mean()
    loss.backward()  # mark: backward
    optimizer.step()
    dist.all_reduce(loss.detach())
dist.destroy_process_group()
"""


@pytest.mark.parametrize("layers", [1, 4])
def test_collectives_that_the_reducer_starts_without_python(tool, tmp_path, layers):
    python, out = python_with("torch"), tmp_path / "out"
    program = tmp_path / "program.py"
    program.write_text(DDP.replace("BUCKETS", str(layers)))
    port = free_port()
    script = " & ".join(f"RANK={rank} {python} {program}" for rank in (0, 1))
    tool("run", "-q", "-o", out, "--", "sh", "-c", f"{script} & wait", timeout=120, cwd=tmp_path,
         env={"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"})
    events = [json.loads(line) for line in tool("dump", out, "--kind", "collective").stdout.splitlines()]
    line = next(n for n, text in enumerate(DDP.splitlines(), 1) if "# mark: backward" in text)
    sequences = []
    for rank in (0, 1):
        mine = [event for event in events if event["rank"] == rank]
        # Buckets of parameters in each step, from C++; the loss, from Python, is there once.
        buckets = [event for event in mine if event["name"] == "gloo:all_reduce"]
        assert len(buckets) == 12 if layers == 1 else len(buckets) >= 24
        assert sum(event["bytes"] for event in buckets) == 12 * layers * 4 * (100 * 100 + 100)
        assert all(event["payload"]["worldSize"] == 2 for event in buckets)
        # Each one's end was observed. The backward pass waits from the start of its last one on.
        assert all(event["durationNs"] > 0 and "reason" not in event for event in buckets)
        buckets.sort(key=lambda event: event["startNs"])
        assert sum(event["async"] == 0 for event in buckets) == 12 and buckets[-1]["async"] == 0
        assert all(any(f["file"].endswith("program.py") and f["line"] == line for f in event["stack"])
                   for event in buckets)
        assert sum(event["detail"] == "all-reduce" and event.get("bytes") == 4 for event in mine) == 12
        sequences.append([event["sequence"] for event in buckets])
    assert sequences[0] == sequences[1] == sorted(set(sequences[0]))
