#include "analyze/device_interface.h"

#include <optional>
#include <vector>

namespace stallscope {
namespace {

// cudaLaunchKernel, cuLaunchKernelEx, hipModuleLaunchKernel; not "custom_launch".
std::string_view interface_of_launch(std::string_view name) {
  if (name.find("Launch") == std::string_view::npos) return {};
  if (name.starts_with("hip")) return "HIP";
  if (name.starts_with("cuda") || name.starts_with("cuLaunch")) return "CUDA";
  return {};
}

}  // namespace

std::string_view device_interface(const Trace& trace) {
  std::vector<std::optional<std::string_view>> names(trace.strings.size());
  std::string_view launched_by;
  bool kernels = false;
  for (EventId i = 0; i < trace.size() && !(kernels && !launched_by.empty()); ++i) {
    const EventKind kind = trace.kinds()[i];
    kernels |= kind == EventKind::kernel;
    if (!launched_by.empty() || (kind != EventKind::api && kind != EventKind::graph_launch))
      continue;
    std::optional<std::string_view>& known = names[trace.names()[i]];
    if (!known) known = interface_of_launch(trace.name(i));
    launched_by = *known;
  }
  return kernels ? launched_by : std::string_view();
}

}  // namespace stallscope
