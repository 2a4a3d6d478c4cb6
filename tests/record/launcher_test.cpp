#include "record/launcher.h"

#include <doctest/doctest.h>

#include <map>

using namespace stallscope;

namespace {

RankIdentity detect(const std::map<std::string, std::string>& variables) {
  return detect_rank([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

}  // namespace

TEST_CASE("the rank is found in every launcher's variables") {
  struct Case {
    std::map<std::string, std::string> variables;
    const char* launcher;
    int rank, local_rank, world_size;
  };
  const Case cases[] = {
      {{}, "", -1, -1, 0},
      {{{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}}, "torchrun", 3, 1, 8},
      {{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}, "openmpi", 1, -1, 2},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}}, "mpich", 0, 0, 2},
      {{{"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS", "16"}}, "slurm", 5, 1, 16},
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}, "", -1, -1, 0},
      {{{"RANK", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}, "torchrun", 2, -1, 0},
      {{{"RANK", "captain"}}, "", -1, -1, 0},
      {{{"RANK", "-1"}}, "", -1, -1, 0},
      {{{"RANK", ""}}, "", -1, -1, 0},
      {{{"RANK", "99999999999"}}, "", -1, -1, 0},
  };
  for (const Case& c : cases) {
    const RankIdentity identity = detect(c.variables);
    CHECK(identity.launcher == c.launcher);
    CHECK(identity.rank == c.rank);
    CHECK(identity.local_rank == c.local_rank);
    CHECK(identity.world_size == c.world_size);
    CHECK(identity.job.empty() == (c.rank < 0));
  }
}

TEST_CASE("ranks of one launch share a job, launches do not") {
  const auto torchrun = [](const char* rank, const char* port) {
    return detect(
               {{"RANK", rank}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", port}})
        .job;
  };
  CHECK(torchrun("0", "29500") == torchrun("1", "29500"));
  CHECK(torchrun("0", "29500") != torchrun("0", "29501"));
  // Nothing but the rank is known: siblings share the process that started them.
  CHECK(detect({{"RANK", "0"}}).job == detect({{"RANK", "1"}}).job);
}
