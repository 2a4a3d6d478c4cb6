#include <cuda_runtime.h>

// Made when it is first wanted.
void SyncedMemory::to_gpu() {
  switch (head_) {
    case UNINITIALIZED:
      CUDA_CHECK(cudaMalloc(&gpu_ptr_, size_));
      zero_kernel<<<64, 256>>>(gpu_ptr_, size_);
      break;
    case HEAD_AT_CPU:
      if (nullptr == pinned_) {
        CUDA_CHECK(cudaMallocHost(&pinned_, size_));
      }
      cudaMemcpyAsync(gpu_ptr_, cpu_ptr_, size_, cudaMemcpyHostToDevice);
      break;
  }
}

void train(SyncedMemory& memory, Net& net, int max_iter) {
  for (int iter = 0; iter < max_iter; ++iter) {
    memory.to_gpu();
    net.forward();
    net.backward();
  }
}
