"""MPI calls of C programs and mpi4py, on Open MPI and MPICH, as recorded events."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

IMPLEMENTATIONS = {
    "openmpi": ("mpicc.openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"]),
    "mpich": ("mpicc.mpich", ["mpirun.mpich", "-n", "2"]),
}
TARGET = pathlib.Path(__file__).parents[1] / "collect/targets/mpi_target.c"


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def mpi(request):
    compiler, launcher = IMPLEMENTATIONS[request.param]
    if shutil.which(compiler) is None or shutil.which(launcher[0]) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def record(build, tool, folder, command):
    """Run `command` under the injected libraries; events by rank."""
    folder.mkdir(exist_ok=True)
    env = {**os.environ, "STALLSCOPE_OUT": str(folder),
           "NVTX_INJECTION64_PATH": str(build / "lib/libstallscope-collect.so"),
           "LD_PRELOAD": str(build / "lib/libstallscope-mpi.so"),
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    ranks = {}
    for segment in sorted(folder.glob("*.ssg")):
        lines = [json.loads(line) for line in tool("dump", segment).stdout.splitlines()]
        events = [e for e in lines if e["kind"] == "collective"]
        if events:
            ranks[events[0]["rank"]] = events
    return ranks, done.stdout


def field(event, name):
    return event.get(name, event.get("payload", {}).get(name))


def named(events, name):
    return [e for e in events if e["name"] == name]


def test_calls_from_c(mpi, build, tool, tmp_path):
    compiler, launcher = IMPLEMENTATIONS[mpi]
    program = tmp_path / "mpi_target"
    subprocess.run([compiler, "-g", "-O1", "-o", str(program), str(TARGET)], check=True)
    ranks, output = record(build, tool, tmp_path / "out", [*launcher, str(program)])
    assert output == "sum of 2 ranks\n"
    assert sorted(ranks) == [0, 1]
    expected = [  # name, operation, bytes, asynchronous
        ("MPI_Barrier", "barrier", 0, 0), ("MPI_Allreduce", "all-reduce", 512, 0),
        ("MPI_Allreduce", "all-reduce", 64, 0), ("MPI_Bcast", "broadcast", 32, 0),
        ("MPI_Allgather", "all-gather", 256, 0), ("MPI_Reduce_scatter", "reduce-scatter", 240, 0),
        ("MPI_Isend", "send", 3, 1), ("MPI_Irecv", "receive", 3, 1), ("MPI_Waitall", "wait", 0, 0),
        ("MPI_Sendrecv", "send-receive", 8, 0), ("MPI_Iallreduce", "all-reduce", 32, 1),
        ("MPI_Wait", "wait", 0, 0), ("MPI_Allreduce", "all-reduce", 16, 0)]
    for rank, events in ranks.items():
        seen = [(e["name"], e["detail"], field(e, "bytes"), field(e, "async")) for e in events]
        for call in expected:
            assert call in seen, (rank, call, seen)
    assert field(named(ranks[0], "MPI_Send")[0], "bytes") == 40
    assert field(named(ranks[0], "MPI_Send")[0], "peer") == 1
    assert field(named(ranks[1], "MPI_Recv")[0], "peer") is None  # MPI_ANY_SOURCE
    assert field(named(ranks[0], "MPI_Bcast")[0], "peer") == 1

    def identities(events):
        return [(e["name"], field(e, "group"), field(e, "sequence")) for e in events
                if e["detail"] in ("all-reduce", "barrier", "broadcast", "all-gather") and field(e, "worldSize") == 2]
    assert identities(ranks[0]) == identities(ranks[1])
    groups = {field(e, "group") for e in named(ranks[0], "MPI_Allreduce") + named(ranks[0], "MPI_Iallreduce")}
    assert len(groups) == 3  # the world, its duplicate, and its split
    barrier = named(ranks[0], "MPI_Barrier")[0]
    assert any(f["function"] == "main" and f["file"].endswith("mpi_target.c") for f in barrier["stack"])
    assert "libstallscope" not in barrier["stack"][0].get("module", "")


def test_calls_from_mpi4py(mpi, build, tool, tmp_path):
    pytest.importorskip("mpi4py")
    launcher = IMPLEMENTATIONS[mpi][1]
    script = tmp_path / "train.py"
    script.write_text(
        "from mpi4py import MPI\nimport numpy\n"
        "world = MPI.COMM_WORLD\nvalues = numpy.ones(100)\nsums = numpy.empty(100)\n"
        "world.Allreduce(values, sums)\nworld.Barrier()\n"
        "assert sums[0] == world.size == 2\n")
    environment = ["env", f"MPI4PY_MPIABI={mpi}"]
    if mpi == "mpich":
        # The wheel asks for the ABI's name of the library; Debian installs it under another.
        installed = sorted(pathlib.Path("/usr/lib").glob("*/libmpich.so.12"))
        (tmp_path / "libmpi.so.12").symlink_to(installed[0])
        environment.append(f"LD_LIBRARY_PATH={tmp_path}")
    ranks, _ = record(build, tool, tmp_path / "out",
                      [*launcher, *environment, sys.executable, str(script)])
    assert sorted(ranks) == [0, 1]
    for events in ranks.values():
        reduce = named(events, "MPI_Allreduce")
        assert [field(e, "bytes") for e in reduce] == [800]
        assert field(reduce[0], "worldSize") == 2
        assert named(events, "MPI_Barrier")
