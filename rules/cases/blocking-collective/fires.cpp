#include <mpi.h>

void train(Network& net, Optimizer& optimizer, int max_iter) {
  for (int iter = 0; iter < max_iter; ++iter) {
    net.forward();
    net.backward();
    MPI_Allreduce(MPI_IN_PLACE, net.grads(), net.size(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);  // expect: blocking-collective
    optimizer.step();
    float loss = net.loss();
    MPI_Reduce(&loss, &total, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);  // expect: blocking-collective
    MPI_Barrier(MPI_COMM_WORLD);  // expect: blocking-collective
  }
}
