// Point-to-point messages, their non-blocking forms, and waits (MPI-3, chapter
// 3), and the forms with large counts (MPI-4), which mpi4py uses where it can.
#include "collect/mpi_announce.h"

using stallscope::mpi::bytes_of;
using stallscope::mpi::Handle;
using stallscope::mpi::message;

#define COUNT int
#define NAME(name) name
#include "collect/mpi_messages.inc"
#undef COUNT
#undef NAME
#define COUNT int64_t
#define NAME(name) name##_c
#include "collect/mpi_messages.inc"

// clang-format off
STALLSCOPE_MPI_CALL(Probe, (int peer, int tag, Handle comm, void* status), (peer, tag, comm, status),
  message(STALLSCOPE_COLLECTIVE_WAIT, false, 0, comm, peer))
STALLSCOPE_MPI_CALL(Mprobe, (int peer, int tag, Handle comm, void* matched, void* status),
  (peer, tag, comm, matched, status),
  message(STALLSCOPE_COLLECTIVE_WAIT, false, 0, comm, peer))

STALLSCOPE_MPI_CALL(Wait, (void* request, void* status), (request, status), stallscope::mpi::wait())
STALLSCOPE_MPI_CALL(Waitall, (int count, void* requests, void* statuses), (count, requests, statuses),
  stallscope::mpi::wait())
STALLSCOPE_MPI_CALL(Waitany, (int count, void* requests, int* index, void* status),
  (count, requests, index, status), stallscope::mpi::wait())
STALLSCOPE_MPI_CALL(Waitsome, (int count, void* requests, int* done, int* indices, void* statuses),
  (count, requests, done, indices, statuses), stallscope::mpi::wait())
// clang-format on
