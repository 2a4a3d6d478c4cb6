#include "collect/mpi_announce.h"

namespace stallscope::mpi {

thread_local int t_depth __attribute__((tls_model("initial-exec"))) = 0;

namespace {

Function<int(Handle, int*)> g_type_size("PMPI_Type_size");

}  // namespace

uint64_t bytes_of(int64_t count, Handle type) {
  int size = 0;
  if (count <= 0 || g_type_size(type, &size) != 0 || size <= 0) return 0;
  return static_cast<uint64_t>(count) * static_cast<uint64_t>(size);
}

int64_t sum_of(const int* counts, Handle communicator) {
  int64_t sum = 0;
  const uint32_t size = counts == nullptr ? 0 : describe(communicator).size;
  for (uint32_t rank = 0; rank < size; ++rank) sum += counts[rank];
  return sum;
}

stallscope_collective message(uint8_t op, bool async, uint64_t bytes, Handle communicator,
                              int peer) {
  stallscope_collective call;
  const Communicator known = describe(communicator);
  call.op = op;
  call.async = async ? 1 : 0;
  call.device = -1;
  call.bytes = bytes;
  call.group = known.group;
  call.world_size = known.size;
  call.peer = peer >= 0 ? peer : -1;  // MPI_ANY_SOURCE and MPI_PROC_NULL are negative
  return call;
}

stallscope_collective collective(uint8_t op, bool async, uint64_t bytes, Handle communicator,
                                 int root) {
  stallscope_collective call = message(op, async, bytes, communicator, root);
  call.sequence = next_sequence(communicator);
  return call;
}

stallscope_collective wait() {
  stallscope_collective call;
  call.op = STALLSCOPE_COLLECTIVE_WAIT;
  call.device = -1;
  call.peer = -1;
  return call;
}

}  // namespace stallscope::mpi
