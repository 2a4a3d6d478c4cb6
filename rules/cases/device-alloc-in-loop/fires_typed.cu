// Macros hide the allocation: without types nothing is found here.
#include <cuda_runtime.h>

#define CHECK(call)                          \
  do {                                       \
    const cudaError_t error = (call);        \
    if (error != cudaSuccess) report(error); \
  } while (0)
#define NEW_BUFFER(pointer, n) CHECK(cudaMalloc(&(pointer), (n) * sizeof(float)))
#define FREE_BUFFER(pointer) CHECK(cudaFree(pointer))

__global__ void forward_kernel(float* x, float* scratch);

void train(float* weights, int steps) {
  for (int step = 0; step < steps; ++step) {
    float* scratch = nullptr;
    NEW_BUFFER(scratch, 1 << 20);  // expect with types: device-alloc-in-loop
    forward_kernel<<<128, 256>>>(weights, scratch);
    backward(weights, scratch);
    update(weights);
    FREE_BUFFER(scratch);  // expect with types: device-alloc-in-loop
  }
}
