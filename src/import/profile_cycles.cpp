#include "import/profile_cycles.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "import/trace_merger.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// "HOST_PID.TIME.pt.trace.json.gz" without its time; empty when it is no such name.
std::string name_without_time(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  const size_t end = path.find(".pt.trace.json", name);
  if (end == std::string::npos || end == name) return {};
  const size_t dot = path.rfind('.', end - 1);
  if (dot == std::string::npos || dot <= name || dot + 1 == end) return {};
  const std::string_view time = std::string_view(path).substr(dot + 1, end - dot - 1);
  if (time.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return path.substr(0, dot) + path.substr(end);
}

struct Extent {
  Ns begin = INT64_MAX, end = INT64_MIN;
};

Extent extent_of(const Trace& trace) {
  Extent extent;
  for (EventId id = 0; id < trace.size(); ++id) {
    extent.begin = std::min(extent.begin, trace.starts()[id]);
    extent.end = std::max(extent.end, trace.end(id));
  }
  return extent;
}

// The numbers of the first and last step that the profiler marked; a second run counts anew.
std::pair<int64_t, int64_t> step_numbers(const Trace& trace) {
  constexpr std::string_view kStepMark = "ProfilerStep#";
  std::pair<int64_t, int64_t> numbers{INT64_MAX, INT64_MIN};
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.kinds()[id] != EventKind::range || !trace.name(id).starts_with("ProfilerStep"))
      continue;
    const std::string name = trace.full_name(id);
    if (!name.starts_with(kStepMark)) continue;
    const int64_t number = std::strtoll(name.c_str() + kStepMark.size(), nullptr, 10);
    numbers = {std::min(numbers.first, number), std::max(numbers.second, number)};
  }
  return numbers;
}

bool goes_on(const Trace& before, const Trace& after) {
  const Process &one = before.processes[0], &other = after.processes[0];
  return one.pid == other.pid && one.rank == other.rank && one.world_size == other.world_size &&
         step_numbers(before).second < step_numbers(after).first;
}

void append(const Trace& part, Trace& into) {
  TraceMerger merger(part, into);
  merger.each(0, [&](const Event& event, uint32_t process) { merger.add(event, process); });
  TraceHealth &health = into.health, more = part.health;
  health.bytes_on_disk += more.bytes_on_disk;
  health.lost_records += more.lost_records;
  health.device_visible = health.device_visible || more.device_visible;
  health.cut_short = health.cut_short || more.cut_short;
  for (const auto& [what, count] : more.repairs) health.repairs[what] += count;
  health.holes.insert(health.holes.end(), more.holes.begin(), more.holes.end());
  for (std::string& warning : more.warnings)
    if (std::ranges::find(health.warnings, warning) == health.warnings.end())
      health.warnings.push_back(std::move(warning));
}

}  // namespace

std::vector<std::vector<std::string>> cycles_together(std::span<const std::string> paths) {
  std::vector<std::vector<std::string>> groups;
  std::map<std::string, size_t> group_of;
  for (const std::string& path : paths) {
    const std::string key = name_without_time(path);
    const auto known = key.empty() ? group_of.end() : group_of.find(key);
    if (known != group_of.end()) {
      groups[known->second].push_back(path);
      continue;
    }
    if (!key.empty()) group_of[key] = groups.size();
    groups.push_back({path});
  }
  return groups;
}

Result<std::vector<Trace>> import_cycles(std::span<const std::string> paths,
                                         const ImportOptions& options) {
  std::vector<std::pair<Extent, Trace>> parts;
  for (const std::string& path : paths) {
    Result<Trace> trace = import_trace(path, options);
    if (!trace) return trace.error();
    const Extent extent = paths.size() == 1 ? Extent() : extent_of(*trace);
    parts.emplace_back(extent, std::move(*trace));
  }
  std::ranges::sort(parts, {}, [](const auto& part) { return part.first.begin; });
  std::vector<Trace> traces;
  Extent last;
  bool apart = false;
  size_t appended = 0;
  for (auto& [extent, trace] : parts) {
    if (!traces.empty() && goes_on(traces.back(), trace) && extent.begin >= last.end) {
      append(trace, traces.back());
      traces.back().health.holes.push_back(
          {last.end, extent.begin - last.end, "between two cycles of the profiler's schedule"});
      ++appended;
    } else {
      apart = apart || !traces.empty();
      traces.push_back(std::move(trace));
    }
    last = extent;
  }
  if (appended > 0)
    for (Trace& trace : traces) trace.finish();
  if (apart)
    traces.front().health.warnings.push_back(
        "The files " + fs::path(paths.front()).filename().string() + " and " +
        fs::path(paths.back()).filename().string() +
        " are named as cycles of one process and are not: they are read as ranks side by side. Of "
        "several runs in one folder, name the files of one.");
  return traces;
}

}  // namespace stallscope
