#include <cuda_runtime.h>

// Kept by what is made: freed elsewhere.
void Network::reserve(size_t n) {
  cudaMalloc(&acts_, n * sizeof(float));
  fill_kernel<<<32, 256>>>(acts_, n);
}

// Grown when too small.
void Scratch::apply(const float* x, size_t n) {
  if (data_ == nullptr || size_ < n) {
    cudaFree(data_);
    cudaMalloc(&data_, n * sizeof(float));
    size_ = n;
  }
  apply_kernel<<<32, 256>>>(data_, x, n);
}

// Moves nothing through the device.
void* allocate(size_t bytes) {
  void* p = nullptr;
  cudaMalloc(&p, bytes);
  return p;
}

// For those who call it each time.
void Buffer::resize(size_t n) {
  cudaFree(data_);
  cudaMalloc(&data_, n);
  clear_kernel<<<32, 256>>>(data_, n);
}
