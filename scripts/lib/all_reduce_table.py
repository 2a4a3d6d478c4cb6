"""All-reduce over two ranks: this project's beside memory passes, Gloo and Open MPI.

    all_reduce_table.py ALL_REDUCE_TIMES      the table
    all_reduce_table.py --gloo RANK PORT      one rank of Gloo, through PyTorch
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SIZES = [4, 64 << 10, 3145728, 37748736]
HERE = pathlib.Path(__file__)


def gloo(rank, port):
    import torch
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    for size in SIZES:
        data = torch.zeros(size // 4)
        calls = 200 if size < 1 << 20 else 3
        best = 1e18
        for _ in range(8):
            start = time.perf_counter()
            for _ in range(calls):
                dist.all_reduce(data)
            best = min(best, (time.perf_counter() - start) / calls * 1e6)
        if rank == 0:
            print(size, best, flush=True)
    dist.destroy_process_group()


def pairs(text):
    return {int(size): float(value) for size, value in (line.split() for line in text.splitlines())}


def by_gloo():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    ranks = [subprocess.Popen([sys.executable, HERE, "--gloo", str(r), port], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) for r in (0, 1)]
    try:
        output, errors = ranks[0].communicate(timeout=120)
        ranks[1].communicate(timeout=120)
    finally:
        for rank in ranks:
            rank.kill()
    if ranks[0].returncode != 0:
        return {}, "Gloo: " + (errors.strip().splitlines() or ["failed"])[-1]
    return pairs(output), ""


def by_mpi():
    if not shutil.which("mpicc.openmpi") or not shutil.which("mpirun.openmpi"):
        return {}, "Open MPI: not installed (apt: libopenmpi-dev openmpi-bin)"
    source = HERE.parents[2] / "tests/bench/mpi_all_reduce.c"
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "mpi_all_reduce"
        subprocess.run(["mpicc.openmpi", "-O2", source, "-o", program], check=True)
        done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "2",
                               program], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return {}, "Open MPI: " + (done.stderr.strip().splitlines() or ["failed"])[-1]
    return pairs(done.stdout), ""


def main(program):
    own = [line.split() for line in subprocess.run(
        [program], capture_output=True, text=True, check=True, timeout=240).stdout.splitlines()]
    others, notes = [], []
    for measure in (by_gloo, by_mpi):
        values, why = measure()
        others.append(values)
        if why:
            notes.append(why)
    print("all-reduce over 2 ranks, microseconds, best of 15 runs (Gloo of 8)")
    print(f"{'bytes':>10} {'threads':>10} {'processes':>10} {'2 passes':>10} {'over them':>10} "
          f"{'Gloo':>10} {'Open MPI':>10}")
    for size, threads, processes, passes in own:
        cells = [f"{values[int(size)]:10.1f}" if values else f"{'-':>10}" for values in others]
        ratio = f"{float(processes) / float(passes):10.2f}" if int(size) > 4 else f"{'-':>10}"
        print(f"{size:>10} {float(threads):10.2f} {float(processes):10.2f} {float(passes):10.1f} "
              f"{ratio} " + " ".join(cells))
    print("2 passes: each rank reads and writes as many bytes twice, both at once")
    for note in notes:
        print(note)


if __name__ == "__main__":
    if sys.argv[1] == "--gloo":
        gloo(int(sys.argv[2]), sys.argv[3])
    else:
        main(sys.argv[1])
