"""C++ in `stallscope run` and `report`: what libclang's types add to a program that was recorded."""
import json
import shutil
import subprocess

import pytest

from conftest import SOURCE
from run_programs import NVTX
from test_lint_types import libclang  # noqa: F401

# A stand-in for the runtime: a library without lines, as the real one is. What is launched runs
# while the host waits for it.
RUNTIME = r"""
#include <cuda_runtime.h>
#include <unistd.h>
#include "collect/annotate.h"
using stallscope::annotate::Scope;
static uint32_t launched = 0;
static void launch(const char* name) {
  launched = stallscope_next_correlation();
  Scope api("cudaLaunchKernel", stallscope_api{.call = STALLSCOPE_API_LAUNCH, .device = 0, .stream = 7, .correlation = launched});
  (void)name;
}
extern "C" {
void begin_step() { stallscope_range_begin("step"); }
void end_step() { stallscope_end(); }
void model_forward(float*) { launch("forward"); }
void model_backward(float*) { launch("backward"); }
void model_update(float*) { launch("update"); usleep(1000); }
int cudaDeviceSynchronize() {
  Scope api("cudaDeviceSynchronize", stallscope_api{.call = STALLSCOPE_API_DEVICE_SYNC, .device = 0});
  Scope kernel("gemm", stallscope_kernel{.device = 0, .stream = 7, .correlation = launched});
  usleep(3000);
  return 0;
}
}
"""

HEADER = """#pragma once
extern "C" {
void begin_step();
void end_step();
void model_forward(float*);
void model_backward(float*);
void model_update(float*);
int cudaDeviceSynchronize();
}
"""

TRAIN = """#include <cuda_runtime.h>
#include <cstdio>
#define CHECK(call) do { if ((call) != 0) std::puts("failed"); } while (0)
#define SYNC() CHECK(cudaDeviceSynchronize())
struct Queue {
  __attribute__((noinline)) void synchronize() { cudaDeviceSynchronize(); }
};
struct Barrier {
  double passed = 0;
  __attribute__((noinline)) void synchronize() { ++passed; }
};
__attribute__((noinline)) double train(float* weights, Barrier& barrier, int steps) {
  for (int step = 0; step < steps; ++step) {
    begin_step();
    model_forward(weights);
    model_backward(weights);
    SYNC();  // mark: blocks
    model_update(weights);
    barrier.synchronize();  // mark: waits for no device
    if (barrier.passed < 0) {
      SYNC();  // mark: not seen
    }
    end_step();
  }
  return barrier.passed;
}
int main() {
  Barrier barrier;
  float weights[4] = {};
  std::printf("%g\\n", train(weights, barrier, 40));
}
"""


def line(mark):
    return TRAIN[:TRAIN.index("mark: " + mark)].count("\n") + 1


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("types")
    (folder / ".git").mkdir()
    (folder / "lib").mkdir()
    (folder / "cuda_runtime.h").write_text(HEADER)
    (folder / "train.cpp").write_text(TRAIN)
    (folder / "lib/runtime.cc").write_text(RUNTIME)
    includes = ["-I", str(folder), "-I", str(SOURCE / "src"), "-isystem", str(NVTX)]
    subprocess.run(["c++", "-std=c++20", "-O1", "-fno-omit-frame-pointer", "-fPIC", "-shared", "-w",
                    *includes, "lib/runtime.cc", "-o", "lib/libruntime.so"], cwd=folder, check=True)
    (folder / "lib/runtime.cc").unlink()
    subprocess.run(["c++", "-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", *includes, "train.cpp",
                    "-o", "train", f"-L{folder}/lib", "-lruntime", f"-Wl,-rpath,{folder}/lib", "-ldl"],
                   cwd=folder, check=True)
    return folder


def findings(report):
    return {(f["ruleId"], f["locations"][0]["line"]): f for f in report["findings"]
            if f["locations"] and f["locations"][0]["file"].endswith("train.cpp")}


def test_a_recorded_program_is_read_with_types(tool, program, libclang):  # noqa: F811
    tool("run", "-o", "out", "--", "./train", cwd=program, check=0)
    report = tool.report(program / "out")
    assert not any("libclang" in warning for warning in report["warnings"]), report["warnings"]
    typed = findings(report)
    blocks, unseen, wrong = (("explicit-sync", line(mark)) for mark in
                             ("blocks", "not seen", "waits for no device"))
    # The line that blocked is known on both sides: the source says where on it.
    assert typed[blocks]["status"] == "measured" and typed[blocks]["locations"][0]["column"] == 5
    assert typed[unseen]["status"] == "not-seen"
    assert wrong not in typed
    again = findings(json.loads(tool("report", "out", "--format", "json", cwd=program, check=0).stdout))
    assert set(again) == set(typed)
    # Nothing is left beside the report.
    assert not (program / ".stallscope-cache").exists()

    # Structure knows the macro's wait too, but not the class: another one's is blamed.
    plain = findings(json.loads(tool("report", "out", "--libclang", "off", "--format", "json",
                                     cwd=program, check=0).stdout))
    assert plain[blocks]["locations"][0]["column"] == 5
    assert plain[unseen]["status"] == "not-seen" and plain[wrong]["status"] == "not-seen"


def test_without_libclang_the_report_says_so(tool, program):
    tool("run", "-o", "without", "--libclang", "no/libclang.so", "--", "./train", cwd=program, check=0)
    report = tool.report(program / "without")
    assert any("libclang was not found at no/libclang.so" in w for w in report["warnings"])
    assert ("explicit-sync", line("blocks")) in findings(report)


def test_types_come_from_the_cache_of_lint(tool, program, libclang):  # noqa: F811
    try:
        tool("lint", cwd=program, check=None)
        written = {path: path.stat().st_mtime_ns for path in (program / ".stallscope-cache").iterdir()}
        tool("run", "-o", "cached", "--", "./train", cwd=program, check=0)
        assert written == {path: path.stat().st_mtime_ns for path in written}
        assert ("explicit-sync", line("not seen")) in findings(tool.report(program / "cached"))
    finally:
        shutil.rmtree(program / ".stallscope-cache", ignore_errors=True)
