#include <mpi.h>

// Before the first step.
void share_seed(Options& options, int rank) {
  if (rank == 0) {
    options.seed = std::random_device()();
    options.layout = plan_layout(options);
  }
  MPI_Bcast(&options.seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  MPI_Bcast(&options.layout, sizeof(options.layout), MPI_BYTE, 0, MPI_COMM_WORLD);
}

// Every rank sorts its share.
void balance(Network& net, std::vector<int>& order, int rank, int world) {
  sort_part(order, rank, world);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, order.data(), order.size() / world, MPI_INT, MPI_COMM_WORLD);
  net.reorder(order);
}

void fit(Network& net, Optimizer& optimizer, Options& options, int rank, int world) {
  share_seed(options, rank);
  std::vector<int> order(net.layers());
  for (int step = 0; step < options.steps; ++step) {
    balance(net, order, rank, world);
    net.forward(order);
    net.backward(order);
    optimizer.step();
    if (step % 1000 == 0) {
      if (rank == 0) {
        net.tune(order);
      }
      MPI_Bcast(order.data(), order.size(), MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
      std::cout << "step " << step << " of " << options.steps << std::endl;
    }
    MPI_Bcast(net.statistics(), 16, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
}
