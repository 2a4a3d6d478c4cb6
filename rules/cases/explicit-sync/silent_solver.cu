#include <cuda_runtime.h>

void Graph::saveState(cudaStream_t stream) {
  cudaStreamSynchronize(stream);
}

void Graph::upload(cudaStream_t stream) {
  cudaStreamSynchronize(stream);
}

void optimize(Graph& graph, int num_iterations) {
  graph.upload(0);
  for (int i = 0; i < num_iterations; i++) {
    graph.advance(0);
  }
  graph.saveState(0);
}

// What the device computed beside what the host did.
bool verify_steps(Graph& graph, Graph& host, int num_steps) {
  for (int step = 0; step < num_steps; ++step) {
    graph.advance(0);
    cudaDeviceSynchronize();
    if (!same(graph, host.advance_on_host())) return false;
  }
  return true;
}
