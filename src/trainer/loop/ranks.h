// Starting a program's own ranks: one process each, on this machine.
#pragma once

#include <functional>
#include <memory>

#include "comm/communicator.h"

namespace stallscope::trainer {

/// One rank of a run, inside its process.
struct Rank {
  int rank = 0;
  int size = 1;
  comm::Communicator& communicator;
};

/// A rank's place among replicas of a tensor-parallel group, whose ranks are consecutive.
struct Grid {
  Rank tensor, data;
  std::unique_ptr<comm::Communicator> own_tensor, own_data;  ///< when they are not the whole run's
};
/// Splits the run into `replicas` groups of `tensor` ranks. Collective. Error when a launcher
/// started another number of ranks.
Result<std::unique_ptr<Grid>> make_grid(Rank& rank, int tensor, int replicas);

/// Runs `body` once per rank, each in a process of its own started from this
/// program's file (RANK, LOCAL_RANK and WORLD_SIZE are set as launchers set them), and
/// returns the program's exit code: 0, or that of the first rank that failed.
/// With one rank, or when a launcher (mpirun, torchrun) already started this process as a
/// rank, `body` runs here. Call it from main, before starting threads.
int run_ranks(int size, const std::function<int(Rank&)>& body);

}  // namespace stallscope::trainer
