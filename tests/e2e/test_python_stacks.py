"""Stacks of blocking calls made from Python name the Python line, on every CPython found."""
import json
import os
import subprocess

import pytest

from python_packages import interpreters

pytestmark = pytest.mark.timed

LIBRARY = r"""
#include "collect/annotate.h"
void block(void) {
  stallscope_api_begin("cudaDeviceSynchronize",
                       (stallscope_api){.call = STALLSCOPE_API_DEVICE_SYNC, .device = 0});
  stallscope_end();
}
"""

SCRIPT = """\
import ctypes, sys, threading
block = ctypes.CDLL(sys.argv[1]).block


class Träiner:
    def step(self, depth):
        if depth:
            return self.step(depth - 1)
        block()  # line 9
        [block() for _ in range(2)]  # line 10


def work():
    Träiner().step(3)
    block(
    )  # lines 15 and 16


work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("done")
"""


INTERPRETERS = interpreters()


@pytest.fixture(scope="session")
def library(tmp_path_factory, source):
    folder = tmp_path_factory.mktemp("library")
    (folder / "block.c").write_text(LIBRARY)
    subprocess.run(["cc", "-O1", "-g", "-shared", "-fPIC", "-o", str(folder / "libblock.so"),
                    str(folder / "block.c"), "-I", str(source / "src"), "-I", str(source / "deps/nvtx"),
                    "-ldl"], check=True)
    return folder / "libblock.so"


@pytest.mark.parametrize("version", sorted(INTERPRETERS), ids="{0[0]}.{0[1]}".format)
def test_blocking_calls_name_the_python_line(version, library, build, tool, tmp_path):
    script = tmp_path / "train_näme.py"
    script.write_text(SCRIPT, encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    env = {**os.environ, "STALLSCOPE_OUT": str(out),
           "NVTX_INJECTION64_PATH": str(build / "lib/libstallscope-collect.so")}
    command = [str(INTERPRETERS[version]), str(script), str(library)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    events = []
    for segment in out.glob("*.ssg"):
        events += [json.loads(line) for line in tool("dump", segment).stdout.splitlines()]
    calls = [e for e in events if e["name"] == "cudaDeviceSynchronize"]
    assert len(calls) == 8
    assert len({e["tid"] for e in calls}) == 2
    minor = version[1]
    lines = []
    for call in sorted(calls, key=lambda e: e["startNs"]):
        frames = [f for f in call["stack"] if f["kind"] == "python"]
        assert frames, (version, call["stack"])
        assert frames[0]["file"] == str(script)
        lines.append(frames[0]["line"])
        assert call["stack"][0]["function"] == "block"  # the C function that blocked
        assert not any("_PyEval" in f["function"] for f in call["stack"])
    first = lines[:4]
    assert first[:3] == [9, 10, 10]
    assert first[3] in (15, 16)  # a call over two lines: which one depends on the version
    outer = [f for f in sorted(calls, key=lambda e: e["startNs"])[0]["stack"] if f["kind"] == "python"]
    functions = [f["function"].split(".")[-1] for f in outer]
    assert functions == ["step"] * 4 + ["work", "<module>"]
    assert [f["line"] for f in outer] == [9, 8, 8, 8, 14, 19]
    if minor >= 11:
        assert outer[0]["function"] == "Träiner.step"
