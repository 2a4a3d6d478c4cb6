// A simulation: each of its steps launches kernels and exchanges with its neighbours.
#include <cuda_runtime.h>
#include <mpi.h>

void Simulation::forces() {
  forces_kernel<<<32, 256>>>(x_, f_, n_);
}

double Simulation::energy() {
  double mine = 0, all = 0;
  cudaMemcpy(&mine, energy_, sizeof(double), cudaMemcpyDeviceToHost);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);  // expect: blocking-collective
  return all;
}

void Simulation::advance() {
  forces();
  integrate_kernel<<<32, 256>>>(x_, f_, dt_, n_);
  MPI_Barrier(comm_);  // expect: blocking-collective
  dt_ = 0.1 / energy();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Simulation simulation;
  while (simulation.time() < 10.0) {
    simulation.advance();
  }
  MPI_Finalize();
}
