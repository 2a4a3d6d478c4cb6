#include "import/capture_windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace stallscope {

std::vector<CaptureWindow> merged(std::vector<CaptureWindow> windows) {
  std::ranges::sort(windows, {}, &CaptureWindow::start);
  std::vector<CaptureWindow> result;
  for (const CaptureWindow& window : windows) {
    if (!result.empty() && window.start <= result.back().end)
      result.back().end = std::max(result.back().end, window.end);
    else
      result.push_back(window);
  }
  return result;
}

bool in_window(const std::vector<CaptureWindow>& windows, Ns time) {
  const auto after = std::ranges::upper_bound(windows, time, {}, &CaptureWindow::start);
  return after != windows.begin() && time < std::prev(after)->end;
}

void state_windows(const std::vector<CaptureWindow>& windows, TraceHealth& health) {
  if (windows.empty()) {
    health.warnings.emplace_back(
        "nothing was recorded: the program never called cudaProfilerStart (call it, as "
        "torch.cuda.profiler.start() does, or run without --capture cuda-profiler)");
    return;
  }
  Ns closed = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].end != kOpenEnd) closed += windows[i].end - windows[i].start;
    if (i > 0)
      health.holes.push_back({windows[i - 1].end, windows[i].start - windows[i - 1].end,
                              "outside cudaProfilerStart and cudaProfilerStop"});
  }
  const bool open = windows.back().end == kOpenEnd;
  std::string lengths = format_duration(static_cast<double>(closed)) + " in all";
  if (open)
    lengths =
        windows.size() == 1 ? "open to the end" : lengths + " and the last one open to the end";
  health.warnings.push_back(
      fmt::format("recorded between cudaProfilerStart and cudaProfilerStop only: {} {}, {}",
                  windows.size(), windows.size() == 1 ? "window" : "windows", lengths));
}

}  // namespace stallscope
