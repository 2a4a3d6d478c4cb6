#include <mpi.h>

// Layers are packed into one message.
void average(std::vector<Layer>& layers, std::vector<float>& packed, int world) {
  size_t at = 0;
  for (auto& layer : layers) {
    std::copy(layer.grads.begin(), layer.grads.end(), packed.begin() + at);
    at += layer.grads.size();
  }
  MPI_Allreduce(MPI_IN_PLACE, packed.data(), at, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  for (size_t i = 0; i < at; ++i) packed[i] /= world;
}

// A message a round, and one in each round.
void run_rounds(Network& net, Optimizer& optimizer, std::vector<Layer>& layers, int rounds) {
  std::vector<float> packed(net.size());
  for (int round = 0; round < rounds; ++round) {
    net.backward(round);
    average(layers, packed, 8);
    optimizer.step(packed);
    MPI_Bcast(net.statistics(), 16, MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
}
