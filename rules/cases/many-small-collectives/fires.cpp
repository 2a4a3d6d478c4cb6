#include <mpi.h>
#include <nccl.h>

void step(std::vector<Buffer>& buffers) {
  for (auto& b : buffers) {
    MPI_Allreduce(MPI_IN_PLACE, b.data, b.size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);  // expect: many-small-collectives
  }
}

int main() {
  for (int i = 0; i < 100; ++i) {
    for (size_t k = 0; k < metrics.size(); ++k) {
      MPI_Bcast(&metrics[k], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // expect: many-small-collectives
      ncclAllGather(in[k], out[k], 1, ncclFloat, comm, stream);  // expect: many-small-collectives
    }
    model_backward(buffers);
    step(buffers);
    model_update(buffers);
  }
}
