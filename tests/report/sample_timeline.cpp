#include "report/sample_timeline.h"

#include <fmt/format.h>

namespace stallscope::sample {
namespace {

enum TrackIndex : uint32_t { kMain, kAutograd, kCompute, kComm };

/// A small deterministic generator: the same numbers on every machine.
class Jitter {
 public:
  explicit Jitter(uint32_t seed) : state_(seed * 2654435761U + 1) {}
  /// `base` changed by up to a quarter either way.
  Ns operator()(Ns base) {
    state_ = state_ * 1664525U + 1013904223U;
    return base * 3 / 4 + base * static_cast<Ns>(state_ >> 16) / 65536 / 2;
  }

 private:
  uint32_t state_;
};

/// Adds calls on a host thread and the device work they start.
struct Builder {
  Timeline out;
  Jitter jitter;
  Ns host = 0, compute = 0, comm = 0;

  void slice(Ns start, Ns duration, uint32_t track, std::string name, const char* kind,
             bool highlighted = false) {
    out.slices.push_back({start, duration, track, std::move(name), kind, highlighted});
  }
  void launch(uint32_t thread, const char* kernel, Ns duration) {
    const Ns call = jitter(6'000);
    slice(host, call, thread, "cudaLaunchKernel", "api");
    const Ns start = std::max(compute, host + call + 3'000);
    if (start > compute + 4'000) class_from(compute, StepClass::launch_bound);
    compute = start + jitter(duration);
    class_from(start, StepClass::compute);
    slice(start, compute - start, kCompute, kernel, "kernel");
    host += call + jitter(4'000);
  }
  void class_from(Ns at, StepClass step_class) {
    if (!out.classes.empty() && out.classes.back().second == step_class) return;
    out.classes.emplace_back(at, step_class);
  }
};

constexpr const char* kGemm = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn";
constexpr const char* kFlash =
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)";
constexpr const char* kNorm =
    "void at::native::vectorized_layer_norm_kernel<float, float>(int, float)";
constexpr const char* kGelu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>";
constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)";

}  // namespace

Timeline training_step(int32_t rank) {
  Builder b{{}, Jitter(static_cast<uint32_t>(rank) + 7), 0, 0, 0};
  b.out.tracks = {"thread 4711 (python)", "thread 4733 (autograd)", "device 0 stream 7",
                  "device 0 stream 20 (nccl)"};
  b.out.rank = rank;
  b.out.step = 96;
  b.slice(0, 900'000, kMain, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
          "range");
  b.class_from(0, StepClass::input_wait);
  b.host = 900'000;
  b.compute = 0;
  const Ns forward = b.host;
  for (int layer = 0; layer < 12; ++layer) {
    const Ns start = b.host;
    b.launch(kMain, kNorm, 24'000);
    b.launch(kMain, kGemm, 118'000);
    b.launch(kMain, kFlash, 92'000);
    b.launch(kMain, kGemm, 84'000);
    b.launch(kMain, kGelu, 31'000);
    b.launch(kMain, kGemm, 121'000);
    b.slice(start, b.host - start, kMain, fmt::format("block {}", layer), "range");
  }
  b.slice(forward, b.host - forward, kMain, "forward", "range");
  const Ns wait = b.host;
  b.slice(wait, b.compute - wait + 6'000, kMain, "cudaStreamSynchronize", "api", true);
  b.slice(wait - 9'000, b.compute - wait + 22'000, kMain, "aten::_local_scalar_dense", "range");
  b.class_from(b.compute, StepClass::host_sync);
  b.host = b.compute + 780'000;
  for (int layer = 11; layer >= 0; --layer) {
    const Ns start = b.host;
    b.launch(kAutograd, kGemm, 190'000);
    b.launch(kAutograd, kGelu, 44'000);
    b.launch(kAutograd, kFlash, 210'000);
    b.launch(kAutograd, kGemm, 200'000);
    b.slice(start, b.host - start, kAutograd, "AddmmBackward0", "range");
    const Ns begin = std::max(b.comm, b.compute);
    b.comm = begin + b.jitter(260'000);
    b.slice(begin, b.comm - begin, kComm, kAllReduce, "collective");
  }
  b.class_from(b.compute, StepClass::exposed_communication);
  b.class_from(b.comm, StepClass::host_work);
  b.host = std::max(b.host, b.comm + 240'000);
  b.compute = std::max(b.compute, b.comm);
  b.slice(b.comm, 420'000, kMain, "clip_and_log (trainer/loop.py:88)", "range");
  for (int i = 0; i < 9; ++i) b.launch(kMain, "multi_tensor_apply_kernel<AdamFunctor>", 64'000);
  b.out.duration = std::max(b.host, b.compute);
  return std::move(b.out);
}

Timeline sync_exemplar(int32_t rank, Ns blocked, Ns idle, const std::string& call) {
  Timeline t;
  t.rank = rank;
  t.step = 57;
  t.tracks = {"thread 4711 (python)", "device 0 stream 7"};
  const Ns queue = 140'000;
  for (int i = 0; i < 6; ++i) {
    t.slices.push_back({i * 22'000, 7'000, 0, "cudaLaunchKernel", "api", false});
    t.slices.push_back({9'000 + i * 58'000, 55'000, 1, kGemm, "kernel", false});
  }
  const Ns drained = 9'000 + 6 * 58'000;
  t.slices.push_back({queue, blocked, 0, call, "api", true});
  const Ns resumed = drained + idle;
  t.slices.push_back({queue + blocked + 20'000, 7'000, 0, "cudaLaunchKernel", "api", false});
  t.slices.push_back({resumed, 55'000, 1, kNorm, "kernel", false});
  t.classes = {
      {0, StepClass::compute}, {drained, StepClass::host_sync}, {resumed, StepClass::compute}};
  t.duration = resumed + 80'000;
  return t;
}

Timeline burst_exemplar(int32_t rank) {
  Timeline t;
  t.rank = rank;
  t.step = 61;
  t.tracks = {"thread 4711 (python)", "device 0 stream 20 (nccl)"};
  for (int i = 0; i < 40; ++i) {
    t.slices.push_back({i * 31'000, 9'000, 0, "ncclAllReduce", "api", false});
    t.slices.push_back({12'000 + i * 31'000, 17'000, 1, kAllReduce, "collective", true});
  }
  t.classes = {{0, StepClass::exposed_communication}};
  t.duration = 40 * 31'000;
  return t;
}

}  // namespace stallscope::sample
