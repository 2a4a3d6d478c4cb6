// One rank works, and the others wait for what it sends.
#include <mpi.h>

void train(Network& net, Optimizer& optimizer, Planner& planner, int rank, int max_iter) {
  std::vector<int> order(net.layers());
  for (int iter = 0; iter < max_iter; ++iter) {
    if (rank == 0) {  // expect: rank0-compute-broadcast
      planner.sort_by_load(order.data(), net.loads());
    }
    MPI_Bcast(order.data(), order.size(), MPI_INT, 0, MPI_COMM_WORLD);
    net.forward(order);
    net.backward(order);
    optimizer.step();
  }
}

// Lengths are balanced by the first process, from what it was told before.
void share_lengths(std::vector<int>& cuts, const Lengths& lengths, int rank) {
  if (rank == 0) {  // expect: rank0-compute-broadcast
    cuts = partition(lengths, cuts.size());
  }
  MPI_Bcast(cuts.data(), cuts.size(), MPI_INT, 0, MPI_COMM_WORLD);
}

void train_sequences(Network& net, Optimizer& optimizer, Reader& reader, int rank) {
  std::vector<int> cuts(64);
  while (reader.next()) {
    share_lengths(cuts, reader.lengths(), rank);
    net.forward(reader.part(cuts, rank));
    net.backward();
    optimizer.step();
  }
}

// The samples are drawn by one process for all.
class Trainer {
 public:
  void train_step(int step) {
    int rank;
    MPI_Comm_rank(comm_, &rank);
    if (rank == 0) {  // expect: rank0-compute-broadcast
      for (auto& index : batch_) index = sampler_.draw(step);
      std::sort(batch_.begin(), batch_.end());
    }
    MPI_Bcast(batch_.data(), batch_.size(), MPI_LONG, 0, comm_);
    auto loss = model_->forward(dataset_.rows(batch_));
    loss.backward();
    optimizer_.step();
  }

 private:
  MPI_Comm comm_;
};

// As above, with the status checked.
void train_checked(Network& net, Optimizer& optimizer, Planner& planner, int rank, int max_iter) {
  std::vector<int> order(net.layers());
  for (int iter = 0; iter < max_iter; ++iter) {
    if (rank == 0) {  // expect: rank0-compute-broadcast
      planner.sort_by_load(order.data(), net.loads());
    }
    MPICHECK(MPI_Bcast(order.data(), order.size(), MPI_INT, 0, MPI_COMM_WORLD));
    net.forward(order);
    net.backward(order);
    optimizer.step();
  }
}
