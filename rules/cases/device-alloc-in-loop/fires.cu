#include <cuda_runtime.h>

void step(float* grads, size_t n) {
  float* scratch;
  cudaMalloc(&scratch, n * sizeof(float));  // expect: device-alloc-in-loop
  reduce<<<32, 256>>>(scratch, grads, n);
  cudaFree(scratch);  // expect: device-alloc-in-loop
}

float loss_of(const float* out, int n) {
  float* each = nullptr;
  CHECK(cudaMalloc((void**)(&(each)), n * sizeof(float)));  // expect: device-alloc-in-loop
  cross_entropy<<<32, 256>>>(each, out, n);
  return sum_of(each, n);
}

int main() {
  for (int i = 0; i < 100; ++i) {
    float* host;
    CHECK(cudaMallocHost((void**)&host, 4096));  // expect: device-alloc-in-loop
    log(loss_of(grads, 256));
    model_backward(grads);
    step(grads, 1 << 20);
    model_update(grads);
    cudaFreeHost(host);  // expect: device-alloc-in-loop
  }
}
