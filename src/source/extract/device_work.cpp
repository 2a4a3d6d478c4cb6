#include "source/extract/device_work.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Libraries whose functions queue work, by how their names begin.
constexpr std::array<std::string_view, 13> kTensorLibraries = {
    "cublas",  "cusparse", "cudnn",     "cufftExec", "cusolver",   "curandGenerate", "hipblas",
    "rocblas", "miopen",   "hipsparse", "nccl",      "hipfftExec", "cutensor"};

bool sets_up(std::string_view name) {
  return contains_any(name, {"create", "destroy", "init", "set", "get", "plan", "finalize", "abort",
                             "error", "workspace", "descriptor"});
}

/// Algorithms of Thrust that run on the device, by how their names begin.
bool is_device_algorithm(std::string_view name) {
  constexpr std::array<std::string_view, 20> kAlgorithms = {
      "sort",     "stable_sort", "transform", "reduce",      "inclusive_scan",
      "copy",     "fill",        "for_each",  "gather",      "exclusive_scan",
      "scatter",  "unique",      "remove",    "count",       "inner_product",
      "sequence", "partition",   "merge",     "lower_bound", "upper_bound"};
  return std::ranges::any_of(kAlgorithms, [&](std::string_view a) { return name.starts_with(a); });
}

/// cudaMemcpyAsync, cudaMemcpy2DAsync, hipMemsetAsync, cuMemcpyHtoDAsync.
bool is_queued_copy(std::string_view name) {
  return starts_with_any(name, {"cudaMem", "hipMem", "cuMem", "gpuMem"}) &&
         contains_any(name, {"memcpy", "memset"}) && name.find("Async") != std::string_view::npos;
}

/// Kokkos::parallel_for(n, f), amrex::ParallelFor(box, f), AMREX_FOR_3D(box, i, j, k, {...}),
/// OCCA's mesh->gradientKernel(n, x). ParallelFor() alone is another pool's where no AMReX is.
bool is_portable_launch(const Ast& ast, std::string_view root, NodeId callee) {
  const std::string_view name = ast[callee].text;
  if (root == "Kokkos") return starts_with_any(name, {"parallel_", "deep_copy"});
  if (root == "RAJA") return name == "forall" || name == "launch";
  if (name.starts_with("AMREX_")) return contains_any(name, {"_for_"}) || name.ends_with("_FOR");
  if (ast[callee].kind == K::attribute && name.ends_with("Kernel"))
    return holds_text(ast.source, "occa::");
  return name.starts_with("ParallelFor") &&
         (root == "amrex" || contains_any(ast.source, {"amrex"}));
}

/// sort(cuda::par, ...) under `using namespace thrust`; a project's SELECT((thrust::gather), ...)
bool is_given_algorithm(const Ast& ast, const Names& names, NodeId call) {
  const NodeId first = ast.child(call, Role::argument);
  if (first == kNoNode) return false;
  const std::string_view text = ast.slice(first);
  if (starts_with_any(text, {"cuda::par", "thrust::cuda::par", "hip::par", "thrust::hip::par"}))
    return true;
  if (ast[first].kind != K::attribute) return false;
  const std::string& path = names.resolve(first).path;
  return first_component(path) == "thrust" && is_device_algorithm(last_component(path));
}

/// launch_histogram(...), CUDA_LAUNCH(...), dh::LaunchN(...); not POST_LAUNCH_CHECK().
bool launches_by_name(std::string_view name) {
  return (name.starts_with("launch") || name.find("Launch") != std::string_view::npos ||
          name.find("LAUNCH") != std::string_view::npos) &&
         !contains_any(lower(name), {"config", "param", "check", "bound", "dims", "error"});
}

}  // namespace

bool is_device_guard(const Ast& ast, NodeId declaration) {
  constexpr size_t kLongest = 200;
  return ast[declaration].text.ends_with("Guard") && ast.slice(declaration).size() < kLongest &&
         contains_any(ast.slice(declaration), {".device()", "device_of("});
}

bool queues_work(const Ast& ast, const Names& names, NodeId call) {
  const NodeId callee = ast.child(call, Role::callee);
  if (callee == kNoNode) return false;
  const std::string_view name = ast[callee].text;
  // CUBLAS(axpy)(handle, n, x, y): a macro that puts the type of the numbers into the name
  if (ast[call].role == Role::callee) {
    const NodeId what = ast.child(call, Role::argument);
    return what != kNoNode && !sets_up(ast.slice(what)) &&
           std::ranges::find(kTensorLibraries, lower(name)) != kTensorLibraries.end();
  }
  if (is_queued_copy(name) ||
      is_one_of(name, {"cudaLaunchKernel", "hipLaunchKernelGGL", "cuLaunchKernel",
                       "hipModuleLaunchKernel", "cudaGraphLaunch", "copy_from_host"}))  // CUTLASS's
    return true;
  if (std::ranges::any_of(kTensorLibraries,
                          [&](std::string_view l) { return name.starts_with(l); }))
    return !sets_up(name);
  const std::string& path = names.resolve(callee).path;
  const std::string_view root = first_component(path);
  if (root.ends_with("cub")) return path.find("Device") != std::string::npos;
  if (root == "thrust") return is_device_algorithm(last_component(path));
  // cublas::axpy(), nccl::all_reduce(): a program's own names for them
  if (std::ranges::find(kTensorLibraries, root) != kTensorLibraries.end() && root != path)
    return !sets_up(lower(name));
  if (is_portable_launch(ast, root, callee)) return true;
  return launches_by_name(name) || is_given_algorithm(ast, names, call);
}

namespace {

/// stream, streams[i], handle.get_stream(), static_cast<cudaStream_t>(0); not what a macro checks.
bool is_stream(std::string_view text) {
  constexpr size_t kLongest = 60;
  if (text.size() > kLongest || !contains_any(text, {"stream"}) || text.find('"') != text.npos)
    return false;
  const size_t open = text.find('(');
  return open == text.npos || text.ends_with("()") || text.starts_with("static_cast<");
}

}  // namespace

bool is_given_stream(const Ast& ast, NodeId call) {
  const NodeId callee = ast.child(call, Role::callee);
  if (callee == kNoNode) return false;
  // cudaMallocAsync(&p, n, stream), StreamGuard guard(stream), ReleaseEvent(stream): no work.
  const std::string name = lower(snake_case(ast[callee].text));
  if (starts_with_any(name, {"cuda", "hip", "cu_"}) ||
      contains_any(name,
                   {"stream", "create", "destroy", "sync",  "wait",    "record", "event", "guard",
                    "init",   "set",    "alloc",   "free",  "print",   "log",    "read",  "write",
                    "save",   "load",   "check",   "query", "capture", "make"}))
    return false;
  unsigned arguments = 0;
  bool given = false;
  for (const NodeId c : children(ast, call)) {
    if (ast[c].role != Role::argument) continue;
    ++arguments;
    given |= is_stream(ast.slice(c));
  }
  return given && (arguments > 1 || !name.starts_with("get"));
}

bool names_streams(std::string_view source) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"cudaStream_t", "hipStream_t",
                                                                     "CUDAStream", "cuda_stream"},
                             [&](std::string_view type) { return holds_text(source, type); });
}

OwnStep own_step(std::string_view name) {
  // GOES_BACKWARDS(dir): a macro that asks, or a constant.
  if (std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; })) return OwnStep::none;
  const std::string text = snake_case(name);
  // cudnnGetConvolutionBackwardDataWorkspaceSize(): asks what a step will need
  // Copy__Optimizer_Adam__Host_To_Device(): hands its state over
  if (contains_any(text, {"test", "print", "check", "bench", "log", "init", "setup", "alloc",
                          "workspace", "algorithm", "descriptor"}) ||
      has_word(lower(text), {"copy", "clone", "upload", "download"}))
    return OwnStep::none;
  if (contains_any(text, {"backward", "backprop", "back_prop", "bprop", "compute_grad", "calc_grad",
                          "calculate_grad", "gradient_descent", "gradient_step"}))
    return OwnStep::backward;
  // Optimizer_Function() chooses one, optimize() runs it.
  if (contains_any(text, {"update_", "_update", "apply_grad", "optimizer_step", "adam", "sgd"}) ||
      has_word(lower(text), {"optimize", "optimise"}))
    return OwnStep::update;
  return contains_any(text, {"forward", "fprop"}) ? OwnStep::forward : OwnStep::none;
}

bool is_driver_allocation(std::string_view name) {
  return is_one_of(name, {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc",
                          "cudaFree", "cudaFreeHost", "hipMalloc", "hipHostMalloc", "hipFree",
                          "hipHostFree", "cuMemAlloc", "cuMemFree"});
}

}  // namespace stallscope
