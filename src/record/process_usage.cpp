#include "record/process_usage.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <vector>

#include "base/file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// Empty when there is no such file, or its process ends while it is read: a stream would throw.
std::string read_text(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? *text : std::string();
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
  return found;
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Ns from_ticks(uint64_t ticks) {
  static const long per_second = ::sysconf(_SC_CLK_TCK);
  return static_cast<Ns>(ticks) * (1'000'000'000 / (per_second > 0 ? per_second : 100));
}

/// The folders in which the control group of a process may keep its cpu.stat.
std::vector<std::string> cpu_groups(pid_t pid) {
  std::vector<std::string> folders;
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/cgroup");
  for (std::string_view rest = text; !rest.empty();) {
    // "ID:CONTROLLERS:PATH"; version 2 has ID 0 and no controllers.
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      folders.push_back("/sys/fs/cgroup" + path);
      folders.push_back("/sys/fs/cgroup/unified" + path);
    } else if (controllers.find("cpu") != std::string_view::npos) {
      folders.push_back("/sys/fs/cgroup/cpu" + path);
      folders.push_back("/sys/fs/cgroup/cpu,cpuacct" + path);
      folders.push_back("/sys/fs/cgroup/" + std::string(controllers) + path);
    }
  }
  return folders;
}

}  // namespace

std::optional<ProcessUsage> process_usage(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string stat = read_text(folder + "/stat");
  const size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  const std::vector<std::string_view> fields = words(std::string_view(stat).substr(after_name + 1));
  // Fields of proc(5), counted from 3: the state.
  constexpr size_t kState = 0, kUserTime = 11, kSystemTime = 12, kStorageWait = 39;
  if (fields.size() <= kStorageWait) return std::nullopt;
  ProcessUsage usage;
  usage.on_cpu = from_ticks(number(fields[kUserTime]) + number(fields[kSystemTime]));
  usage.storage_wait = from_ticks(number(fields[kStorageWait]));
  usage.stopped = fields[kState] == "T" || fields[kState] == "t";
  const std::string schedule = read_text(folder + "/schedstat");
  if (const std::vector<std::string_view> times = words(schedule); times.size() >= 2)
    usage.delayed = static_cast<Ns>(number(times[1]));
  return usage;
}

std::optional<Throttling> parse_throttling(std::string_view cpu_stat) {
  Throttling throttling;
  bool known = false;
  const std::vector<std::string_view> all = words(cpu_stat);
  for (size_t i = 0; i + 1 < all.size(); i += 2) {
    const uint64_t value = number(all[i + 1]);
    if (all[i] == "nr_throttled") {
      throttling.periods = value;
      known = true;
    } else if (all[i] == "throttled_usec") {  // version 2
      throttling.time = static_cast<Ns>(value * 1000);
    } else if (all[i] == "throttled_time") {  // version 1
      throttling.time = static_cast<Ns>(value);
    }
  }
  return known ? std::optional(throttling) : std::nullopt;
}

std::optional<Throttling> throttling_of(pid_t pid) {
  std::error_code error;
  for (fs::path folder : cpu_groups(pid)) {
    // A quota of any group around it holds the process back as well; the innermost that says so.
    for (; folder.string().starts_with("/sys/fs/cgroup"); folder = folder.parent_path()) {
      const auto throttling = parse_throttling(read_text(folder.string() + "/cpu.stat"));
      if (throttling && throttling->periods > 0) return throttling;
    }
  }
  for (const std::string& folder : cpu_groups(pid))
    if (const auto none = parse_throttling(read_text(folder + "/cpu.stat"))) return none;
  return std::nullopt;
}

MachineUsage machine_usage() {
  const std::string text = read_text("/proc/stat");
  const std::vector<std::string_view> fields =
      words(std::string_view(text).substr(0, text.find('\n')));
  // cpu user nice system idle iowait irq softirq steal
  MachineUsage usage;
  if (fields.size() < 9) return usage;
  usage.busy = from_ticks(number(fields[1]) + number(fields[2]) + number(fields[3]) +
                          number(fields[6]) + number(fields[7]));
  usage.storage_wait = from_ticks(number(fields[5]));
  usage.stolen = from_ticks(number(fields[8]));
  return usage;
}

}  // namespace stallscope
