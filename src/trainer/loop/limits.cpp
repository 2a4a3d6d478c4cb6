#include "trainer/loop/limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace stallscope::trainer {
namespace {

// The first word of a control group's file, of this process's group or of any above it.
template <typename Use>
void for_each_group(const char* file, const Use& use) {
  std::ifstream own("/proc/self/cgroup");
  std::string line, group;
  while (std::getline(own, line))
    if (line.starts_with("0::")) group = line.substr(3);
  while (true) {
    std::ifstream limit("/sys/fs/cgroup" + group + "/" + file);
    std::string first, second;
    if (limit >> first && first != "max") {
      limit >> second;
      use(std::atof(first.c_str()), std::atof(second.c_str()), "/sys/fs/cgroup" + group);
    }
    const size_t up = group.find_last_of('/');
    if (up == std::string::npos) return;
    group.resize(up);
  }
}

double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  file >> value;
  return value;
}

}  // namespace

int cpu_limit() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  for_each_group("cpu.max", [&](double quota, double period, const std::string&) {
    if (period > 0) cpus = std::min(cpus, static_cast<int>(std::ceil(quota / period)));
  });
  return std::max(cpus, 1);
}

double memory_limit() {
  double there =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    double kilobytes = 0;
    file >> kilobytes >> unit;
    if (key == "MemAvailable:") there = kilobytes * 1024;
  }
  for_each_group("memory.max", [&](double limit, double, const std::string& group) {
    there = std::min(there, limit - number_in(group + "/memory.current"));
  });
  return std::max(there, 0.0);
}

}  // namespace stallscope::trainer
