#include <cuda_runtime.h>

template <typename T>
void Graph<T>::linearize(cudaStream_t stream) {
  jacobians<<<64, 256, 0, stream>>>(edges_);
  cudaStreamSynchronize(stream);  // expect: explicit-sync
  residuals<<<64, 256, 0, stream>>>(edges_);
}

void optimize(Graph<double>& graph, int num_iterations) {
  for (int i = 0; i < num_iterations; i++) {
    graph.linearize(0);
  }
}

void HistogramBuilder::build_histogram(cudaStream_t stream) {
  count<<<64, 256, 0, stream>>>(bins_);
  CHECK(cudaStreamSynchronize(stream));  // expect: explicit-sync
}

void Booster::UpdateOneIter(int iter) {
  builder_.build_histogram(stream_);
}

template <typename T>
class Visitor {
 public:
  template <typename F>
  void compute_errors(F* factor) {
    errors<<<64, 256>>>(factor->values());
    cudaStreamSynchronize(0);  // expect: explicit-sync
  }
};

template <typename T>
void Factor<T>::visit_errors(Visitor<T>& visitor) {
  visitor.template compute_errors<Factor>(this);
}

void refine(Factor<float>& factor, Visitor<float>& visitor, int max_iterations) {
  for (int i = 0; i < max_iterations; i++) {
    factor.visit_errors(visitor);
  }
}
