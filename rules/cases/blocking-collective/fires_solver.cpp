// Processes that wait for one another in each iteration.
#include <mpi.h>

class DistributedTrainer {
 public:
  void train_step(const Batch& batch) {
    model_.forward(batch);
    model_.backward();
    average();
    model_.update(rate_);
  }

 private:
  void average() {
    int world = 1;
    MPI_Comm_size(comm_, &world);
    MPI_Allreduce(MPI_IN_PLACE, grads_.data(), grads_.size(), MPI_FLOAT, MPI_SUM, comm_);  // expect: blocking-collective
    for (float& g : grads_) g /= world;
  }

  Model model_;
  MPI_Comm comm_;
  std::vector<float> grads_;
  float rate_ = 0.1f;
};

// Counts first, then the rows themselves.
void exchange_rows(Rows& rows, std::vector<int>& counts, int world) {
  MPI_Alltoall(rows.counts(), 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);  // expect: blocking-collective
  rows.resize(counts);
}

void train_embeddings(Table& table, Optimizer& optimizer, Rows& rows, int world, int num_steps) {
  std::vector<int> counts(world);
  for (int step = 0; step < num_steps; ++step) {
    exchange_rows(rows, counts, world);
    table.forward(rows);
    table.backward(rows);
    optimizer.step();
  }
}
