"""Both ways to record an MPI program: under one recorder, and one recorder per rank."""
import json
import os
import shutil
import subprocess

import pytest
from conftest import TOOL

pytestmark = pytest.mark.timed

PROGRAM = r"""
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 12; ++i) {
    double value = rank, sum = 0;
    usleep(rank == 1 ? 3000 : 1000);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""

# Open MPI refuses to run as root, and to start more ranks than cores, unless told so.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def launchers():
    found = []
    for name in ("openmpi", "mpich"):
        compiler, launcher = shutil.which(f"mpicc.{name}"), shutil.which(f"mpirun.{name}")
        if compiler and launcher:
            found.append(pytest.param(compiler, launcher, id=name))
    return found or [pytest.param(None, None, marks=pytest.mark.skip("no MPI is installed"))]


@pytest.fixture
def program(tmp_path):
    def build(compiler):
        source = tmp_path / "program.c"
        source.write_text(PROGRAM)
        subprocess.run([compiler, "-g", str(source), "-o", str(tmp_path / "program")], check=True)
        return str(tmp_path / "program")
    return build


def check(tool, out):
    report = json.loads((out / "report.json").read_text())
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1]
    assert report["errors"] == []
    events = [json.loads(line) for line in tool("dump", str(out)).stdout.splitlines()]
    for rank in (0, 1):
        calls = [event for event in events if event["rank"] == rank and
                 "allreduce" in event["name"].lower() and event["kind"] == "collective"]
        assert len(calls) == 12, {event["name"] for event in events}


@pytest.mark.parametrize("compiler, launcher", launchers())
def test_one_recorder_above_the_launcher(tool, program, tmp_path, compiler, launcher):
    out = tmp_path / "out"
    tool("run", "-q", "-o", str(out), "--", launcher, "-n", "2", program(compiler), env=ALLOWED)
    check(tool, out)


@pytest.mark.parametrize("compiler, launcher", launchers())
def test_one_recorder_for_each_rank(tool, program, tmp_path, compiler, launcher):
    out = tmp_path / "out"
    done = subprocess.run([launcher, "-n", "2", str(TOOL), "run", "-q", "-o", str(out), "--",
                           program(compiler)], env={**os.environ, **ALLOWED}, timeout=120,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check(tool, out)
