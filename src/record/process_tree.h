// The processes that a run consists of.
#pragma once

#include <sys/types.h>

#include <vector>

namespace stallscope {

/// `root` and its descendants that are alive, parents first. Needs
/// /proc/PID/task/TID/children; without it only `root` is known.
std::vector<pid_t> process_tree(pid_t root);

/// The kernel's numbers of a process's threads.
std::vector<pid_t> threads_of(pid_t process);

}  // namespace stallscope
