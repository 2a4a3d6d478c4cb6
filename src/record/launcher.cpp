#include "record/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "base/file.h"

namespace stallscope {
namespace {

/// The variables of one launcher; nullptr where it has none.
struct Launcher {
  const char* name;
  const char* rank;
  const char* local_rank;
  const char* world_size;
  const char* job;
};

// Most specific first: torchrun under Slurm sets its own variables as well.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
     "PMIX_NAMESPACE"},
    {"mpich", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "PMI_JOBID"},
    {"slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_JOB_ID"},
};

std::optional<int32_t> number(const Environment& environment, const char* name) {
  const char* text = name == nullptr ? nullptr : environment(name);
  if (text == nullptr) return std::nullopt;
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < 0) return std::nullopt;
  return value;
}

/// Equal for all processes that one process on this machine started: the
/// parent's id and its start time, which together are never used twice.
std::string parent_job() {
  const std::string parent = std::to_string(::getppid());
  const Result<std::string> file = read_file("/proc/" + parent + "/stat");
  const std::string stat = file ? *file : std::string();
  // Fields are counted after the command's name, which may itself hold spaces and brackets.
  const size_t after_name = stat.rfind(')');
  std::string start_time;
  if (after_name != std::string::npos) {
    constexpr int kStartTime = 20;  // field 22 of proc(5), the 20th after the name
    size_t at = after_name + 1;
    for (int field = 1; field < kStartTime && at != std::string::npos; ++field)
      at = stat.find(' ', at + 1);
    if (at != std::string::npos) start_time = stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
  }
  return "p" + parent + "-" + start_time;
}

std::string job_of(const Launcher& launcher, const Environment& environment) {
  std::string job;
  const auto append = [&](const char* name) {
    const char* value = name == nullptr ? nullptr : environment(name);
    if (value != nullptr && *value != '\0') job += (job.empty() ? "" : "-") + std::string(value);
  };
  append(launcher.job);
  if (std::strcmp(launcher.name, "slurm") == 0) append("SLURM_STEP_ID");
  // torchrun's default run id is "none": it then names no launch.
  if (job == "none") job.clear();
  if (std::strcmp(launcher.name, "torchrun") == 0) {
    append("MASTER_ADDR");
    append("MASTER_PORT");
    append("TORCHELASTIC_RESTART_COUNT");
  }
  return job.empty() ? parent_job() : job;
}

}  // namespace

RankIdentity detect_rank(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int32_t> rank = number(environment, launcher.rank);
    if (!rank) continue;
    RankIdentity identity;
    identity.rank = *rank;
    identity.local_rank = number(environment, launcher.local_rank).value_or(-1);
    identity.world_size = number(environment, launcher.world_size).value_or(0);
    // A batch script that Slurm runs has SLURM_PROCID=0 and is nobody's rank.
    if (std::strcmp(launcher.name, "slurm") == 0 && identity.world_size <= 1) continue;
    identity.launcher = launcher.name;
    identity.job = job_of(launcher, environment);
    return identity;
  }
  return {};
}

std::map<std::string, std::string, std::less<>> environment_of(pid_t pid) {
  const Result<std::string> file = read_file("/proc/" + std::to_string(pid) + "/environ");
  const std::string block = file ? *file : std::string();
  std::map<std::string, std::string, std::less<>> variables;
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = std::min(block.find('\0', begin), block.size());
    const std::string variable = block.substr(begin, end - begin);
    if (const size_t equals = variable.find('='); equals != std::string::npos)
      variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
    begin = end + 1;
  }
  return variables;
}

RankIdentity detect_rank_of(pid_t pid) {
  const auto variables = environment_of(pid);
  return detect_rank([&variables](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

RankIdentity detect_rank() {
  return detect_rank([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace stallscope
