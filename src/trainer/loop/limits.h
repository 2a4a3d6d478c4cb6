// What this process may use of the machine.
#pragma once

#include <string>

namespace stallscope::trainer {

/// Where the system tells of control groups, of either version.
struct ControlGroups {
  std::string membership = "/proc/self/cgroup", root = "/sys/fs/cgroup";
};

/// Processors: those it may run on, fewer under a CPU quota of its control group or one above it;
/// at least 1.
int cpu_limit(const ControlGroups& groups = {});

/// Bytes of memory it can still take, less under a memory limit of its control group or one above
/// it. File contents that the kernel can drop count as free.
double memory_limit(const ControlGroups& groups = {});

}  // namespace stallscope::trainer
