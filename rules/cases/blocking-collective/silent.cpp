#include <mpi.h>

void train(Network& net, Optimizer& optimizer, int max_iter) {
  MPI_Bcast(net.weights(), net.size(), MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int iter = 0; iter < max_iter; ++iter) {
    net.forward();
    MPI_Request request;
    net.backward();
    MPI_Iallreduce(MPI_IN_PLACE, net.grads(), net.size(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    optimizer.step();
    if (iter % 100 == 0) {
      MPI_Reduce(&loss, &total, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
