/* Two ranks that use each kind of MPI call the recorder announces. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int other = 1 - rank;
  double values[64] = {0}, sums[128] = {0};
  MPI_Status status;
  MPI_Request requests[2];

  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(values, sums, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, sums, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(values, 8, MPI_FLOAT, 1, MPI_COMM_WORLD);
  MPI_Allgather(values, 32, MPI_DOUBLE, sums, 32, MPI_DOUBLE, MPI_COMM_WORLD);
  const int counts[2] = {10, 20};
  MPI_Reduce_scatter(values, sums, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  if (rank == 0) MPI_Send(values, 5, MPI_DOUBLE, other, 7, MPI_COMM_WORLD);
  else MPI_Recv(values, 5, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
  MPI_Isend(values, 3, MPI_CHAR, other, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(sums, 3, MPI_CHAR, other, 8, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(values, 1, MPI_DOUBLE, other, 9, sums, 1, MPI_DOUBLE, other, 9, MPI_COMM_WORLD,
               &status);

  /* Two communicators of the same members, and one that rank 1 is not in. */
  MPI_Comm first, second, alone;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &second);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &alone);
  MPI_Iallreduce(values, sums, 4, MPI_DOUBLE, MPI_SUM, second, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Allreduce(values, sums, 2, MPI_DOUBLE, MPI_SUM, first);
  if (alone != MPI_COMM_NULL) {
    MPI_Barrier(alone);
    MPI_Comm_free(&alone);
  }
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
  MPI_Finalize();
  if (rank == 0) printf("sum of %d ranks\n", size);
  return 0;
}
