#include <cuda_runtime.h>

void run(int steps, size_t n) {
  for (int step = 0; step < steps; ++step) {
    void* buffer = nullptr;
    cudaMalloc(&buffer, n);  // expect: device-alloc-in-loop
    launch_step(buffer);
    cudaFree(buffer);  // expect: device-alloc-in-loop
    cudaHostAlloc(&pinned, n, 0);  // expect: device-alloc-in-loop
  }
}
int main() { run(10, 4096); }
