#include <mpi.h>

void step(std::vector<float>& flat) {
  MPI_Allreduce(MPI_IN_PLACE, flat.data(), flat.size(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

int main() {
  MPI_Bcast(seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) {
    model_backward(flat);
    step(flat);
    model_update(flat);
    if (i % 10 == 0) {
      for (size_t k = 0; k < metrics.size(); ++k) MPI_Bcast(&metrics[k], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
  }
}
