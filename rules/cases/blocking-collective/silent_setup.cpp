// Messages of a set-up, of what failed, and of what is done now and then.
#include <mpi.h>

std::vector<int> share_out(const Dataset& dataset, int world) {
  std::vector<int> counts(world);
  int mine = dataset.size();
  MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return counts;
}

double mean_accuracy(Network& net, Dataset& held_out) {
  double sum = 0, mine = net.accuracy(held_out);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

void fit(Network& net, Dataset& dataset, Dataset& held_out, Optimizer& optimizer, int world) {
  const std::vector<int> counts = share_out(dataset, world);
  for (int step = 0; step < 10000; ++step) {
    net.forward(dataset.batch(step, counts));
    net.backward();
    if (net.loss() != net.loss()) {
      MPI_Barrier(MPI_COMM_WORLD);
      throw std::runtime_error("the loss is no number");
    }
    optimizer.step();
    if ((step + 1) % 500 == 0) {
      std::printf("%d %f\n", step, mean_accuracy(net, held_out));
    }
  }
}
