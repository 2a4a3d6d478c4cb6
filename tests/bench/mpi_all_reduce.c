/* MPI_Allreduce over the sizes of all_reduce_times: bytes and microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const size_t sizes[] = {4, 64 << 10, 3145728, 37748736};
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int count = (int)(sizes[s] / sizeof(float));
    const int calls = sizes[s] < 1 << 12 ? 2000 : sizes[s] < 1 << 20 ? 200 : 3;
    float* data = calloc((size_t)count, sizeof(float));
    double best = 1e18;
    for (int run = 0; run < 15; ++run) {
      const double start = MPI_Wtime();
      for (int i = 0; i < calls; ++i)
        MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      const double took = (MPI_Wtime() - start) / calls * 1e6;
      if (took < best) best = took;
    }
    if (rank == 0) printf("%zu %.3f\n", sizes[s], best);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
