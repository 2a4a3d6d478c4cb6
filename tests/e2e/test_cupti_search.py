"""Which CUPTI a program is recorded with: a stand-in for it lies where wheels, archives and toolkits put theirs."""
import json
import subprocess
import sys

import pytest

# Loads what the program brings, initialises CUDA as far as the recorder sees it, and works.
PROGRAM = """
import ctypes, os, sys
for library in sys.argv[2:]:
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
assert ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection() == 1
assert ctypes.CDLL(sys.argv[1]).mock_cupti_play(b"kernel 1 0 7 30000 500000 _Z4gemmPf\\ndeliver\\n") == 0
"""


@pytest.fixture
def kernels(tool, build, tmp_path):
    library = build / "mock/libcupti.so.13"
    if not library.exists():
        pytest.skip("the mock was not built: CUPTI's headers are missing")
    (tmp_path / "train.py").write_text(PROGRAM)

    def run(cupti, *libraries, env=None):
        cupti.parent.mkdir(parents=True, exist_ok=True)
        cupti.write_bytes(library.read_bytes())
        out = tmp_path / "out"
        tool("run", "-q", "-o", out, "--", sys.executable, "train.py", cupti, *libraries, cwd=tmp_path,
             env={"LD_LIBRARY_PATH": "", **(env or {})})
        events = [json.loads(line) for line in tool("dump", out).stdout.splitlines()]
        return [event["name"] for event in events if event["kind"] == "kernel"]
    return run


def compiled(path, text=""):
    """A library that stands for one of NVIDIA's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-x", "c", "-", "-o", path], input=text,
                   text=True, check=True)
    return path


def test_one_under_another_name_is_the_programs_own(kernels, tmp_path):
    bundled = tmp_path / "torch/lib/libcupti-89d3ca3b.so.12"
    assert kernels(bundled, bundled)


def test_that_of_the_wheels_is_found_beside_their_runtime(kernels, tmp_path):
    runtime = compiled(tmp_path / "nvidia/cuda_runtime/lib/libcudart.so.12")
    assert kernels(tmp_path / "nvidia/cuda_cupti/lib/libcupti.so.12", runtime)


def test_that_of_a_toolkit_is_found_by_its_variable(kernels, tmp_path):
    toolkit = tmp_path / "toolkit"
    assert kernels(toolkit / "extras/CUPTI/lib64/libcupti.so.13", env={"CUDA_HOME": str(toolkit)})


@pytest.mark.parametrize("driver,fits", [(12040, 12), (13000, 13)])
def test_the_driver_says_which_of_two_fits(kernels, tmp_path, driver, fits):
    toolkit = tmp_path / "toolkit/extras/CUPTI/lib64"
    cuda = compiled(tmp_path / "libcuda.so.1",
                    f"int cuDriverGetVersion(int* version) {{ *version = {driver}; return 0; }}")
    compiled(toolkit / f"libcupti.so.{25 - fits}")  # one that no recorder can use
    assert kernels(toolkit / f"libcupti.so.{fits}", cuda, env={"CUDA_HOME": str(tmp_path / "toolkit")})
