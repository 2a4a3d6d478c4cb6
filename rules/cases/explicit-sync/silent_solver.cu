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
