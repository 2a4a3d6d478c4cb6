#include "trainer/loop/limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace stallscope::trainer {
namespace {

// Whether a comma-separated list holds `word`.
bool lists(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// The folders of this process's group and of those above it, for one controller. In a container
// the group's own path may lie outside of what is mounted: the last folder is the mount itself.
std::vector<std::string> folders_of(const std::string& controller, const ControlGroups& groups) {
  std::vector<std::string> folders;
  std::ifstream membership(groups.membership);
  for (std::string line; std::getline(membership, line);) {  // NUMBER:CONTROLLERS:PATH
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && !lists(controllers, controller)) continue;
    std::string path = line.substr(second + 1);
    while (true) {
      folders.push_back(groups.root + (unified ? "" : "/" + controller) + path);
      const size_t up = path.find_last_of('/');
      if (up == std::string::npos) break;
      path.resize(up);
    }
  }
  return folders;
}

// The first number of a file; `otherwise` when there is none, as of "max".
double number_in(const std::string& path, double otherwise) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : otherwise;
}

// Processors that a group's quota is worth; infinite without one.
double cpu_quota(const std::string& folder) {
  double quota = -1, period = 0;
  if (std::ifstream file(folder + "/cpu.max"); file >> quota) {
    file >> period;
  } else {
    quota = number_in(folder + "/cpu.cfs_quota_us", -1);
    period = number_in(folder + "/cpu.cfs_period_us", 0);
  }
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

// What the kernel can drop of a group's memory at once.
double droppable(const std::string& folder) {
  std::ifstream file(folder + "/memory.stat");
  double value = 0, found = 0;
  for (std::string key; file >> key >> value;)
    if (key == "inactive_file" || key == "total_inactive_file") found = value;
  return found;
}

// Bytes that a group's limit leaves; infinite without one.
double memory_left(const std::string& folder) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  auto left = [&](const char* limit, const char* used) {
    return number_in(folder + limit, kNone) - number_in(folder + used, 0) + droppable(folder);
  };
  return std::min(left("/memory.max", "/memory.current"),
                  left("/memory.limit_in_bytes", "/memory.usage_in_bytes"));
}

}  // namespace

int cpu_limit(const ControlGroups& groups) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  for (const std::string& folder : folders_of("cpu", groups))
    if (const double quota = std::ceil(cpu_quota(folder)); quota < cpus)
      cpus = static_cast<int>(quota);
  return std::max(cpus, 1);
}

double memory_limit(const ControlGroups& groups) {
  double there =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    double kilobytes = 0;
    file >> kilobytes >> unit;
    if (key == "MemAvailable:") there = kilobytes * 1024;
  }
  for (const std::string& folder : folders_of("memory", groups))
    there = std::min(there, memory_left(folder));
  return std::max(there, 0.0);
}

}  // namespace stallscope::trainer
