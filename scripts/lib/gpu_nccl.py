"""The real NCCL library: one rank, two, and its proxies."""
import shutil
import socket
import sys

from gpu_harness import NotApplicable, check, events, expect, needs_gpus, record, written

RANKS = """import os, torch, torch.distributed as d
rank, size = int(os.environ.get('RANK', 0)), int(os.environ.get('WORLD_SIZE', 1))
torch.cuda.set_device(rank % torch.cuda.device_count())
if size == 1:
    d.init_process_group('nccl', store=d.HashStore(), rank=0, world_size=1)
else:
    d.init_process_group('nccl')
x = torch.ones(1 << 20, device='cuda')
for i in range(30):
    torch.cuda.nvtx.range_push('step')
    (x * 2).sum().item(); d.all_reduce(x); torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
d.destroy_process_group()
"""
BYTES = 4 << 20


def rows_of(report):
    return [row for rank in report["ranks"] for row in rank["collectives"] or ()]


@check("a collective of the real NCCL library is told by its profiler")
def told():
    program, _ = written("nccl", RANKS)
    record("nccl", sys.executable, program)
    calls = [event for event in events("nccl") if event["name"] == "ncclAllReduce"]
    if not calls:
        raise NotApplicable("this NCCL told the profiler of no all-reduce (it looks for one since 2.23)")
    expect(all(call["bytes"] == BYTES for call in calls), f"bytes {sorted({call['bytes'] for call in calls})}")
    return f"{len(calls)} calls, {calls[0].get('algorithm')} {calls[0].get('protocol')}"


@check("NCCL's kernels have the bytes that the library told")
def one_rank():
    program, _ = written("nccl", RANKS)
    _, report = record("nccl-kernels", sys.executable, program)
    rows = rows_of(report)
    if not rows:
        raise NotApplicable("one rank alone runs no NCCL kernel here")
    expect(any(row["bytes"] == BYTES for row in rows), f"bytes {[row['bytes'] for row in rows]}")


def two_ranks(name, **settings):
    program, _ = written("nccl", RANKS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    both = " & ".join(f"RANK={rank} {sys.executable} {program}" for rank in (0, 1))
    environment = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), **settings}
    done, report = record(name, "sh", "-c", f"{both} & wait $! && wait", env=environment, expected=None)
    if "Duplicate GPU" in done.stderr:
        raise NotApplicable("this NCCL does not let two ranks share a GPU")
    expect(done.returncode == 0, done.stderr.strip().splitlines()[-1:])
    return report


@check("two ranks: collectives of both are joined", seconds=25)
def joined():
    rows = rows_of(two_ranks("nccl-two"))
    expect(rows and all(row["bytes"] == BYTES and row["ranks"] == 2 for row in rows), f"rows {rows}"[:150])
    return f"bus {max(row['busGbPerS'] for row in rows):.1f} GB/s"


@check("two ranks over the network: NCCL's proxies lead to their collective", seconds=25)
def proxies():
    needs_gpus(2)
    two_ranks("nccl-net", NCCL_P2P_DISABLE="1", NCCL_SHM_DISABLE="1")
    sends = [event for event in events("nccl-net") if event["name"].startswith("NCCL proxy send")]
    expect(sends and all("sequence" in event for event in sends), f"{len(sends)} sends")
    return f"{len(sends)} sends of {sum(event.get('bytes', 0) for event in sends) / 1e6:.0f} MB"


@check("MPI ranks that use the GPU are told apart", seconds=25)
def mpi():
    if not shutil.which("mpirun"):
        raise NotApplicable("no mpirun on PATH")
    program, _ = written("mpi", "import torch\nx = torch.ones(64, 64, device='cuda')\n"
                         "for i in range(50): x = (x @ x).clamp(0, 1)\ntorch.cuda.synchronize()\n")
    record("mpi", "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, program)
    counts = [sum(event["kind"] == "kernel" and event.get("rank") == rank for event in events("mpi")) for rank in (0, 1)]
    expect(min(counts) >= 100, f"kernels by rank {counts}")
    return f"kernels by rank {counts}"
