// Communicators: an identity equal on all their ranks, and a running number for
// their collectives.
#pragma once

#include <stdint.h>

#include "collect/mpi_library.h"

namespace stallscope::mpi {

struct Communicator {
  uint64_t group = 0;  ///< equal on all ranks of the communicator; 0 = unknown
  uint32_t size = 0;
};

/// What is known of a communicator; looked at when first seen.
Communicator describe(Handle communicator);

/// The number of the next collective on it, from 1, equal on all its ranks
/// because all call collectives in one order.
uint64_t next_sequence(Handle communicator);

/// A communicator was just made; all its ranks get here in one order.
void note_created(Handle communicator);
void note_freed(Handle communicator);

}  // namespace stallscope::mpi
