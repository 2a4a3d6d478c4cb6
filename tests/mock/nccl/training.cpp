// A rank that trains: NCCL and the CUDA driver in one process, without either.
//
//   fake_nccl_training KERNEL_NS [before | graph]
//
// Each of twelve steps runs a kernel, an all-reduce of 4 MB in a kernel of
// KERNEL_NS, and two grouped reduce-scatters of 1 MB that share a kernel. NCCL
// tells its profiler of them after their launch, as it does since 2.23, or before. With `graph` the
// step is captured in a CUDA graph, once, and NCCL tells of its collectives then.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collect/nccl_abi.h"

using namespace stallscope::nccl;

namespace {

const ProfilerV5* profiler = nullptr;
void* communicator = nullptr;
int (*play)(const char*) = nullptr;
uint64_t sequence = 0;
int correlation = 0;

void run(const std::string& script) {
  if (play(script.c_str()) != 0) exit(4);
}

void tell(const char* function, size_t elements) {
  EventDescriptorV5 event{};
  event.type = kCollective;
  event.collective.sequence = sequence++;
  event.collective.function = function;
  event.collective.count = elements;
  event.collective.data_type = "ncclFloat32";
  event.collective.algorithm = "RING";
  event.collective.protocol = "SIMPLE";
  void* handle = nullptr;
  profiler->start_event(communicator, &handle, &event);
  profiler->stop_event(handle);
}

// The device begins with the kernel 50 us after its launch.
void launch(const char* kernel, long duration_ns) {
  const std::string id = std::to_string(++correlation);
  run("call runtime cudaLaunchKernelExC_v11060 430 " + id + " 10000\nkernel " + id +
      " 0 20 50000 " + std::to_string(duration_ns) + " " + kernel + "\nsleep " +
      std::to_string(50'000 + duration_ns) + "\n");
}

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
constexpr const char* kReduceScatter = "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL";

void step(long all_reduce_ns, bool tells_before) {
  launch("gemm", 300'000);
  if (tells_before) tell("AllReduce", 1'000'000);
  launch(kAllReduce, all_reduce_ns);
  if (!tells_before) tell("AllReduce", 1'000'000);
  launch("gelu", 200'000);
  for (int part = 0; tells_before && part < 2; ++part) tell("ReduceScatter", 250'000);
  launch(kReduceScatter, 100'000);
  for (int part = 0; !tells_before && part < 2; ++part) tell("ReduceScatter", 250'000);
}

// Graph 1 holds nodes 101 to 104, what is made executable of it nodes 201 to 204.
__attribute__((noinline)) void capture() {
  if (play("node 1 101\nnode 1 102") != 0) exit(4);
  tell("AllReduce", 1'000'000);
  if (play("node 1 103\nnode 1 104") != 0) exit(4);
  for (int part = 0; part < 2; ++part) tell("ReduceScatter", 250'000);
}

void instantiate() {
  run("clone 2 201 1 101\nclone 2 202 1 102\nclone 2 203 1 103\nclone 2 204 1 104\nexec 20 1");
}

void replay(long all_reduce_ns) {
  const std::string id = std::to_string(++correlation);
  long at = 50'000;
  std::string script = "call runtime cudaGraphLaunch_v10000 311 " + id + " 10000\n";
  const auto kernel = [&](const char* name, long duration_ns, int node) {
    script += "kernel " + id + " 0 20 " + std::to_string(at) + " " + std::to_string(duration_ns) +
              " " + name + " 20 " + std::to_string(node) + "\n";
    at += duration_ns;
  };
  kernel("gemm", 300'000, 201);
  kernel(kAllReduce, all_reduce_ns, 202);
  kernel("gelu", 200'000, 203);
  kernel(kReduceScatter, 100'000, 204);
  run(script + "sleep " + std::to_string(at) + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  const char* plugin = getenv("NCCL_PROFILER_PLUGIN");
  const char* driver = getenv("STALLSCOPE_CUPTI");
  if (argc < 2 || plugin == nullptr || driver == nullptr) return 2;
  const bool tells_before = argc > 2 && strcmp(argv[2], "before") == 0;
  void* library = dlopen(plugin, RTLD_NOW);
  *reinterpret_cast<void**>(&play) = dlsym(dlopen(driver, RTLD_NOW), "mock_cupti_play");
  int (*initialize)() = nullptr;
  *reinterpret_cast<void**>(&initialize) = dlsym(library, "InitializeInjection");
  profiler = static_cast<const ProfilerV5*>(dlsym(library, "ncclProfiler_v5"));
  if (play == nullptr || initialize == nullptr || initialize() != 1 || profiler == nullptr)
    return 3;
  int mask = 0;
  profiler->init(&communicator, 0xfeedbeef, &mask, "world", 1, 2, atoi(getenv("RANK")), nullptr);

  const long all_reduce_ns = atol(argv[1]);
  const bool as_graph = argc > 2 && strcmp(argv[2], "graph") == 0;
  if (as_graph) {
    capture();
    instantiate();
  }
  for (int i = 0; i < 12; ++i) {
    nvtxRangePushA("step");
    if (as_graph)
      replay(all_reduce_ns);
    else
      step(all_reduce_ns, tells_before);
    nvtxRangePop();
  }
  run("deliver\n");
  profiler->finalize(communicator);
  puts("done");
  return 0;
}
