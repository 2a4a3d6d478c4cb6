// Which rank of which launch a process is, from the variables that launchers set.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

#include "trace/run_manifest.h"

namespace stallscope {

/// Looks up an environment variable; nullptr when unset.
using Environment = std::function<const char*(const char* name)>;

/// torchrun and everything that follows its variables (RANK, LOCAL_RANK,
/// WORLD_SIZE), Open MPI, MPICH and its kin (PMI_RANK), Slurm; in this order.
/// rank -1 when the process was not started as a rank.
RankIdentity detect_rank(const Environment& environment);
RankIdentity detect_rank();  ///< of this process
/// The variables that another process was started with; empty when they cannot be read.
std::map<std::string, std::string, std::less<>> environment_of(pid_t pid);
/// Of another process, by the environment that it was started with.
RankIdentity detect_rank_of(pid_t pid);

}  // namespace stallscope
