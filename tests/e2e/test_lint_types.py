"""C++ with libclang: macros, typed receivers, compile_commands.json, and without the library."""
import json
import os
import pathlib
import sys

import pytest

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
    assert 7 not in lines(plain, "explicit-sync")
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


def test_confidence_is_higher_with_types(tool, project, libclang):
    (project / "train.cpp").write_text(TYPED)

    def confidence(*args):
        report = json.loads(tool("lint", "--no-cache", "--format", "json", *args, cwd=project,
                                 check=1).stdout)
        return {f["confidence"] for f in report["findings"]
                if f["ruleId"] == "item-in-step" and f["locations"][0]["line"] == 16}
    assert confidence() == {"proven"}
    assert confidence("--libclang", "off") == {"likely"}


def test_real_headers_and_stubs_agree(tool, project, source, libclang):
    include = os.environ.get("STALLSCOPE_TORCH_INCLUDE", "")
    if not (pathlib.Path(include) / "torch/csrc/api/include/torch/torch.h").exists():
        pytest.skip("PyTorch's headers are not here: set STALLSCOPE_TORCH_INCLUDE to their folder")
    sys.path.insert(0, str(source / "scripts/lib"))
    import lint_bench
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
