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

// What a static local is made of is made by the first call.
int count_units() {
  int* units;
  cudaMalloc(&units, sizeof(int));
  count_kernel<<<1, 1>>>(units);
  return read_and_free(units);
}

void scale(const float* x, float* y, int n) {
  static const int units = count_units();
  static float* const table = [] {
    float* made;
    cudaMalloc(&made, 1024);
    table_kernel<<<1, 256>>>(made);
    return made;
  }();
  scale_kernel<<<units, 256>>>(x, y, table, n);
}

void train_scaled(float* x, float* y, float* w, int n, int max_iter) {
  for (int iter = 0; iter < max_iter; ++iter) {
    scale(x, y, n);
    backward(y, x, n);
    sgd_update<<<10, 256>>>(w, x, 0.1f);
  }
}

// One for each device, made when it is first asked for.
cudnnHandle_t cudnn_handle() {
  static int made[16] = {0};
  static cudnnHandle_t handle[16];
  int i = current_device();
  if (!made[i]) {
    cudnnCreate(&handle[i]);
    made[i] = 1;
    cudnnSetStream(handle[i], current_stream());
  }
  return handle[i];
}

void train_convolved(float* x, float* y, float* w, int n, int max_iter) {
  for (int iter = 0; iter < max_iter; ++iter) {
    convolve(cudnn_handle(), x, y, w, n);
    backward(y, x, n);
    sgd_update<<<10, 256>>>(w, x, 0.1f);
  }
}
