// The direction with its scope, and a collection that copies itself into a vector.
#include <cuda_runtime.h>
#include <vector>

__global__ void scale(float* data, int n);

struct Collection {
  float* data;
  int n;
  std::vector<float> to_stdvector() const {
    std::vector<float> out(n);
    check(cudaMemcpy(out.data(), data, n * sizeof(float), cudaMemcpyKind::cudaMemcpyDeviceToHost));
    return out;
  }
};

void train(Collection& weights, float* host, int steps) {
  for (int step = 0; step < steps; ++step) {
    scale<<<1, 128>>>(weights.data, weights.n);
    cudaMemcpy(host, weights.data, 4, cudaMemcpyKind::cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
    const auto copy = weights.to_stdvector();  // expect: device-to-host-in-step
  }
}
