#include <cuda_runtime.h>

#include <vector>

void build(std::vector<void*>& layers, size_t n) {
  void* buffer = nullptr;
  cudaMalloc(&buffer, n);
  layers.push_back(buffer);
}
void run(int steps, size_t n) {
  void* buffer = nullptr;
  cudaMalloc(&buffer, n);
  for (int step = 0; step < steps; ++step) {
    launch_step(buffer);
  }
  cudaFree(buffer);
}
int main() {
  std::vector<void*> layers;
  build(layers, 64);
  run(10, 4096);
}
