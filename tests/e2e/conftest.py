"""What every end-to-end test shares: the built tool, run as a user runs it."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("STALLSCOPE_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("STALLSCOPE_BUILD", SOURCE / "build/release"))
TOOL = pathlib.Path(os.environ.get("STALLSCOPE", BUILD / "stallscope"))
sys.path.insert(0, str(SOURCE / "scripts/lib"))
SHARED_TRACES = pathlib.Path(os.environ.get("STALLSCOPE_TRACES", SOURCE.parent / "shared/data/traces"))


def pytest_configure(config):
    config.addinivalue_line("markers", "timed: what it asserts was sampled or timed in a live program; other guests "
                                       "of the machine may have disturbed it, so it is run again, twice at most")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.flaky(reruns=2))


class Tool:
    """Runs the tool and keeps what it printed."""

    def __call__(self, *args, check=0, stdin=None, env=None, cwd=None, timeout=300):
        """Run `stallscope ARGS`; `check` is the expected exit code, None for any."""
        full_env = {**os.environ, "NO_COLOR": "1", **(env or {})}
        done = subprocess.run([str(TOOL), *map(str, args)], input=stdin, capture_output=True,
                              text=True, env=full_env, cwd=cwd, timeout=timeout)
        if check is not None:
            assert done.returncode == check, (
                f"exit code {done.returncode}, expected {check}\n"
                f"command: stallscope {' '.join(map(str, args))}\n"
                f"stdout:\n{done.stdout[-3000:]}\nstderr:\n{done.stderr[-3000:]}")
        return done

    def report(self, folder):
        """The report.json of a report folder."""
        return json.loads((pathlib.Path(folder) / "report.json").read_text())


@pytest.fixture(scope="session")
def tool():
    assert TOOL.exists(), f"{TOOL} is missing: build it with scripts/build.sh"
    return Tool()


@pytest.fixture(scope="session")
def source():
    return SOURCE


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture
def shared_traces():
    if not SHARED_TRACES.is_dir():
        pytest.skip(f"real traces are not at {SHARED_TRACES}")
    return SHARED_TRACES


@pytest.fixture(scope="session")
def multiplies_bf16(build):
    """Whether the bundled trainer can: with oneDNN, on a CPU that has AVX-512."""
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    wanted = {"avx512bw", "avx512vl", "avx512dq"}
    return (build / "lib/libdnnl.so.3").exists() and wanted <= set(flags)


@pytest.fixture
def compile_c(tmp_path):
    """Compile one C source text to a program: compile_c("name", text, *flags)."""
    def build_program(name, text, *flags):
        source_file, program = tmp_path / f"{name}.c", tmp_path / name
        source_file.write_text(text)
        subprocess.run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", str(program), str(source_file),
                        "-I", str(SOURCE / "deps/nvtx"), "-I", str(SOURCE / "src"), "-ldl", *flags], check=True)
        return program
    return build_program
