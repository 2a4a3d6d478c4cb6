"""C++ with libclang: macros, typed receivers, compile_commands.json, and without the library."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

import lint_bench
from conftest import TOOL
from test_lint import lint

MACROS = """#include "checks.h"
struct Metric { float item() const { return 0; } void synchronize() {} };
__global__ void kernel(float* x) { x[threadIdx.x] = 0; }
void train(float* w, float* host, Metric& metric, int steps) {
  for (int step = 0; step < steps; ++step) {
    kernel<<<1, 32>>>(w);
    SYNC();
    DEBUG_SYNC();
    FETCH(host, w, 32);
    CHECK(cudaStreamSynchronize(0));
    metric.synchronize();
    if (step % 100 == 0) SYNC();
    model_backward(w);
    model_update(w);
  }
}
int main() { Metric m; train(nullptr, nullptr, m, 10); }
"""

CHECKS = """#pragma once
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) cudaDeviceReset(); } while (0)
#define SYNC() CHECK(cudaDeviceSynchronize())
#define FETCH(to, from, n) cudaMemcpy(to, from, n, cudaMemcpyDeviceToHost)
#ifndef NDEBUG
#define DEBUG_SYNC() cudaDeviceSynchronize()
#else
#define DEBUG_SYNC()
#endif
"""

TYPED = """#include <torch/torch.h>
using namespace torch;
namespace F = torch::nn::functional;
namespace device = torch::cuda;
struct Meter { double total = 0; double item() const { return total; } };
struct NetImpl : nn::Module { Tensor forward(Tensor x) { return x; } };
TORCH_MODULE(Net);
template <class Loader> void train(Net net, Loader& loader, optim::Adam& adam) {}
void steps(Net net, std::vector<Tensor>& batches, optim::Adam& adam, Meter& meter) {
  for (auto& x : batches) {
    auto loss = F::cross_entropy(net->forward(x), x);
    loss.backward();
    adam.step();
    meter.total += 1;
    log(meter.item());
    log(loss.item<float>());
    device::synchronize();
  }
}
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def libclang():
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/llvm-19/lib"):
        if (pathlib.Path(folder) / "libclang-19.so.1").exists():
            return
    pytest.skip("libclang 19 is not installed")


def lines(found, rule):
    return [line for r, _, line in found if r == rule]


def test_calls_hidden_in_macros_are_found(tool, project, libclang):
    (project / "train.cu").write_text(MACROS)
    (project / "checks.h").write_text(CHECKS)
    plain = lint(tool, project, "--libclang", "off")
    # By structure too what waits in every build; types know more that macros call.
    assert lines(plain, "explicit-sync") == [7, 10, 11]
    assert lines(plain, "device-to-host-in-step") == []
    typed = lint(tool, project)
    assert lines(typed, "explicit-sync") == [7, 10]
    assert lines(typed, "device-to-host-in-step") == [9]
    # What compiles the debug macro to a call is found too.
    (project / "build").mkdir()
    (project / "build/compile_commands.json").write_text(json.dumps(
        [{"directory": str(project), "file": "train.cu", "command": "nvcc -O0 -c train.cu"}]))
    assert lines(lint(tool, project), "explicit-sync") == [7, 8, 10]


def test_receivers_are_known_by_their_types(tool, project, libclang):
    (project / "train.cpp").write_text(TYPED)
    typed = lint(tool, project)
    assert lines(typed, "item-in-step") == [16]
    assert lines(typed, "explicit-sync") == [17]
    plain = lint(tool, project, "--libclang", "off")
    assert 15 in lines(plain, "item-in-step")


def test_output_is_the_same_from_cache_and_without(tool, project, libclang):
    (project / "train.cpp").write_text(TYPED)
    (project / "train.cu").write_text(MACROS)
    (project / "checks.h").write_text(CHECKS)
    outputs = {tool("lint", "--format", "json", cwd=project, check=None).stdout for _ in range(2)}
    outputs.add(tool("lint", "--format", "json", "--no-cache", cwd=project, check=None).stdout)
    assert len(outputs) == 1
    # A header decides as well: its change is seen.
    (project / "checks.h").write_text(CHECKS.replace("CHECK(cudaDeviceSynchronize())", "(void)0"))
    report = json.loads(tool("lint", "--format", "json", cwd=project, check=None).stdout)
    syncs = [f["locations"][0]["line"] for f in report["findings"]
             if f["ruleId"] == "explicit-sync" and f["locations"][0]["file"] == "train.cu"]
    assert syncs == [10]


@pytest.mark.parametrize("how", ["option", "variable", "project file"])
def test_without_libclang_a_note_and_less_confidence(tool, project, how):
    (project / "train.cpp").write_text(TYPED)
    (project / "other.cpp").write_text(TYPED.replace("steps", "more_steps"))
    missing = str(project / "libclang.so")
    env = {"STALLSCOPE_LIBCLANG": missing} if how == "variable" else {}
    args = ["--libclang", missing] if how == "option" else []
    if how == "project file":
        (project / "stallscope.yml").write_text("libclang: libclang.so\n")
    done = tool("lint", "--no-cache", *args, cwd=project, env=env, check=1)
    assert done.stderr.count("libclang was not found") == 1
    report = json.loads(tool("lint", "--no-cache", "--format", "json", *args, cwd=project, env=env,
                             check=1).stdout)
    assert "proven" not in {f["confidence"] for f in report["findings"]}
    assert any("libclang" in warning for warning in report["warnings"])
    off = tool("lint", "--no-cache", "--libclang", "off", cwd=project, env=env, check=1)
    assert "libclang" not in off.stderr
    (project / "train.py").write_text("import torch\n")
    python = tool("lint", "--no-cache", *args, "train.py", cwd=project, env=env, check=0)
    assert "libclang" not in python.stderr  # no answer about Python waits for types of C++


def test_confidence_is_higher_with_types(tool, project, libclang):
    (project / "train.cpp").write_text(TYPED)

    def confidence(*args):
        report = json.loads(tool("lint", "--no-cache", "--format", "json", *args, cwd=project,
                                 check=1).stdout)
        return {f["confidence"] for f in report["findings"]
                if f["ruleId"] == "item-in-step" and f["locations"][0]["line"] == 16}
    assert confidence() == {"proven"}
    assert confidence("--libclang", "off") == {"likely"}


def test_real_headers_and_stubs_agree(tool, project, libclang):
    include = os.environ.get("STALLSCOPE_TORCH_INCLUDE", "")
    if not (pathlib.Path(include) / "torch/csrc/api/include/torch/torch.h").exists():
        pytest.skip("PyTorch's headers are not here: set STALLSCOPE_TORCH_INCLUDE to their folder")
    lint_bench.copy_corpus(project)
    (project / "typed.cpp").write_text(TYPED)
    stubs = lint(tool, project)
    lint_bench.use_real_headers(project, include)
    assert lint(tool, project) == stubs
    assert len(stubs) > 50


def test_a_class_of_the_program_waits_if_its_code_does(tool, project, libclang):
    (project / "train.cu").write_text("""#include <cuda_runtime.h>
class Stream {
 public:
  void synchronize() { cudaStreamSynchronize(stream_); }
  void launch(float* w);
 private:
  cudaStream_t stream_;
};
struct Barrier { void synchronize() { ++passed; } int passed = 0; };
void train(Stream& stream, Barrier& barrier, float* w, int steps) {
  for (int step = 0; step < steps; ++step) {
    stream.launch(w);
    model_backward(w);
    model_update(w);
    stream.synchronize();
    barrier.synchronize();
  }
}
int main() { Stream s; Barrier b; train(s, b, nullptr, 10); }
""")
    assert lines(lint(tool, project), "explicit-sync") == [15]
    assert lines(lint(tool, project, "--libclang", "off"), "explicit-sync") == [15, 16]


def test_types_have_a_budget_and_the_next_run_goes_on(tool, project, libclang):
    for name in ("train", "again"):
        (project / f"{name}.cpp").write_text(TYPED.replace("steps", f"{name}_steps"))
    none = ["--libclang-budget", "0"]
    late = tool("lint", *none, cwd=project, check=1)
    note = "2 files of 2 had no types in the 0 s of --libclang-budget: read by structure"
    assert late.stderr.count(note) == 1
    assert "the next run goes on from here" in late.stderr
    assert "the next run" not in tool("lint", *none, "--no-cache", cwd=project, check=1).stderr
    assert lint(tool, project, *none) == lint(tool, project, "--libclang", "off")
    for output in ("sarif", "github"):  # which have no place for it
        assert tool("lint", *none, "--format", output, cwd=project, check=1).stderr.count(note) == 1
    # What is cached takes no time.
    typed = tool("lint", cwd=project, check=1)
    cached = tool("lint", *none, cwd=project, check=1)
    assert (cached.stdout, cached.stderr) == (typed.stdout, typed.stderr)
    assert cached.stdout != late.stdout
    (project / "again.cpp").write_text(TYPED)
    assert "1 file of 2 had no types" in tool("lint", *none, cwd=project, check=1).stderr


def abandoned(folder):
    return [path for path in folder.iterdir() if path.name.startswith("stallscope-")]


def is_alive(process):
    """Whether the process runs: not gone, nor dead and waiting for its parent."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition):
    for _ in range(2000):
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("it did not happen")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_ended_lint_leaves_no_temporary_folder(tool, project, tmp_path_factory, libclang, how):
    # Headers that are compiled for this run only, and of which one takes for ever: nobody writes it.
    headers, temporary = project / "include", tmp_path_factory.mktemp("tmp")
    endless = temporary / "endless.h"
    os.mkfifo(endless)
    for path, text in {"torch/torch.h": f"#include <ATen/ATen.h>\n#include <{endless}>\n",
                       "ATen/ATen.h": "namespace at { struct Tensor {}; }\n"}.items():
        (headers / path).parent.mkdir(parents=True)
        (headers / path).write_text(text)
    (project / "train.cpp").write_text(TYPED)
    env = {**os.environ, "TMPDIR": str(temporary)}
    command = [TOOL, "lint", "--no-cache"]
    with subprocess.Popen(command, cwd=project, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as running:
        children = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children")
        wait_until(lambda: any(list(folder.iterdir()) for folder in abandoned(temporary)))
        workers = children.read_text().split()
        running.send_signal(how)
        running.wait()
    wait_until(lambda: not any(is_alive(worker) for worker in workers))
    assert workers
    if how != signal.SIGKILL:
        assert abandoned(temporary) == []
    shutil.rmtree(headers)
    tool("lint", "--no-cache", cwd=project, env=env, check=1)
    assert abandoned(temporary) == []


def test_half_compiled_headers_of_a_killed_run_do_not_stay_in_the_cache(tool, project, libclang):
    (project / "train.cpp").write_text(TYPED)
    cache = project / ".stallscope-cache"
    cache.mkdir()
    left = [cache / "0123.pch.77.temp-stream-ab12cd", cache / "0123.pch.78"]
    for path in [*left, cache / "0123.pch.lock", cache / "0123.pch"]:
        path.write_text("half of it")
    tool("lint", cwd=project, check=1)
    assert [path for path in left if path.exists()] == []
    assert (cache / "0123.pch").exists()
    compiled = [path.name for path in cache.iterdir() if ".pch" in path.name]
    assert len(compiled) == 2 and all(name.endswith(".pch") for name in compiled)
