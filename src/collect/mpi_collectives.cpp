// Collectives and their non-blocking forms (MPI-3, chapter 5), and the forms with
// large counts (MPI-4). Bytes are what this rank contributes: its send buffer, or
// its receive buffer where it has none.
#include "collect/mpi_announce.h"

using stallscope::mpi::bytes_of;
using stallscope::mpi::collective;
using stallscope::mpi::Handle;
using stallscope::mpi::in_place;
using stallscope::mpi::sum_of;

// clang-format off
// Each call in two forms: blocking, and non-blocking with a request at the end.
#define BOTH(name, non_blocking, parameters, arguments, op, bytes, root)                          \
  STALLSCOPE_MPI_NAMED_CALL(name, (STRIP parameters), (STRIP arguments), collective(op, false, bytes, comm, root)) \
  STALLSCOPE_MPI_NAMED_CALL(non_blocking, (STRIP parameters, void* request), (STRIP arguments, request),           \
                      collective(op, true, bytes, comm, root))
#define STRIP(...) __VA_ARGS__
// clang-format on

BOTH(Barrier, Ibarrier, (Handle comm), (comm), STALLSCOPE_COLLECTIVE_BARRIER, 0, -1)

#define COUNT int
#define NAME(name) name
#include "collect/mpi_collectives.inc"
#undef COUNT
#undef NAME
#define COUNT int64_t
#define NAME(name) name##_c
#include "collect/mpi_collectives.inc"

// Those with a count for each rank: MPI-3 only, because a library without the
// large forms could not be called in their place.
// clang-format off
BOTH(Reduce_scatter, Ireduce_scatter,
  (const void* send, void* receive, const int* counts, Handle type, Handle op, Handle comm),
  (send, receive, counts, type, op, comm), STALLSCOPE_COLLECTIVE_REDUCE_SCATTER,
  bytes_of(sum_of(counts, comm), type), -1)
BOTH(Gatherv, Igatherv,
  (const void* send, int send_count, Handle send_type, void* receive, const int* counts, const int* places, Handle receive_type, int root, Handle comm),
  (send, send_count, send_type, receive, counts, places, receive_type, root, comm), STALLSCOPE_COLLECTIVE_GATHER,
  in_place(send) ? 0 : bytes_of(send_count, send_type), root)
BOTH(Scatterv, Iscatterv,
  (const void* send, const int* counts, const int* places, Handle send_type, void* receive, int receive_count, Handle receive_type, int root, Handle comm),
  (send, counts, places, send_type, receive, receive_count, receive_type, root, comm), STALLSCOPE_COLLECTIVE_SCATTER,
  in_place(receive) ? 0 : bytes_of(receive_count, receive_type), root)

#define GATHER_COUNTS(name, non_blocking)                                                                     \
  BOTH(name, non_blocking,                                                                                    \
    (const void* send, int send_count, Handle send_type, void* receive, const int* counts, const int* places, Handle receive_type, Handle comm), \
    (send, send_count, send_type, receive, counts, places, receive_type, comm),                               \
    STALLSCOPE_COLLECTIVE_ALL_GATHER, in_place(send) ? 0 : bytes_of(send_count, send_type), -1)
GATHER_COUNTS(Allgatherv, Iallgatherv)
GATHER_COUNTS(Neighbor_allgatherv, Ineighbor_allgatherv)

BOTH(Alltoallv, Ialltoallv,
  (const void* send, const int* send_counts, const int* send_places, Handle send_type, void* receive, const int* receive_counts, const int* receive_places, Handle receive_type, Handle comm),
  (send, send_counts, send_places, send_type, receive, receive_counts, receive_places, receive_type, comm),
  STALLSCOPE_COLLECTIVE_ALL_TO_ALL,
  in_place(send) ? bytes_of(sum_of(receive_counts, comm), receive_type) : bytes_of(sum_of(send_counts, comm), send_type), -1)
// How many counts these have depends on the topology, or each has a type of its own: bytes unknown.
BOTH(Neighbor_alltoallv, Ineighbor_alltoallv,
  (const void* send, const int* send_counts, const int* send_places, Handle send_type, void* receive, const int* receive_counts, const int* receive_places, Handle receive_type, Handle comm),
  (send, send_counts, send_places, send_type, receive, receive_counts, receive_places, receive_type, comm),
  STALLSCOPE_COLLECTIVE_ALL_TO_ALL, 0, -1)
BOTH(Alltoallw, Ialltoallw,
  (const void* send, const int* send_counts, const int* send_places, const void* send_types, void* receive, const int* receive_counts, const int* receive_places, const void* receive_types, Handle comm),
  (send, send_counts, send_places, send_types, receive, receive_counts, receive_places, receive_types, comm),
  STALLSCOPE_COLLECTIVE_ALL_TO_ALL, 0, -1)
BOTH(Neighbor_alltoallw, Ineighbor_alltoallw,
  (const void* send, const int* send_counts, const intptr_t* send_places, const void* send_types, void* receive, const int* receive_counts, const intptr_t* receive_places, const void* receive_types, Handle comm),
  (send, send_counts, send_places, send_types, receive, receive_counts, receive_places, receive_types, comm),
  STALLSCOPE_COLLECTIVE_ALL_TO_ALL, 0, -1)
// clang-format on
