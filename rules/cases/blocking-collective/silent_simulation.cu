// Ranks agree when a simulation is set up, and on the processor alone.
#include <cuda_runtime.h>
#include <mpi.h>

void Particles::init_step(int n) {
  fill_kernel<<<32, 256>>>(x_, n);
  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, comm_);
}

// Launches nothing.
void Schedule::advance() {
  double next = 0;
  MPI_Allreduce(&due_, &next, 1, MPI_DOUBLE, MPI_MIN, comm_);
  time_ = next;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Particles particles;
  particles.init_step(1000);
  MPI_Barrier(MPI_COMM_WORLD);
  while (particles.time() < 10.0) {
    particles.move();
  }
  MPI_Finalize();
}
