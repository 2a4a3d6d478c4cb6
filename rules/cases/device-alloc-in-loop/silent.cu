#include <cuda_runtime.h>

void forward(Model* model, size_t n) {
  if (model->acts == NULL) {
    cudaMalloc((void**)&model->acts, n * sizeof(float));
  }
  encoder<<<32, 256>>>(model->acts, n);
}

int main() {
  float* scratch;
  cudaMalloc(&scratch, 1 << 20);
  for (int i = 0; i < 100; ++i) {
    forward(&model, 1 << 20);
    model_backward(scratch);
    model_update(scratch);
    cudaMallocAsync(&tmp, 4096, stream);
    cudaFreeAsync(tmp, stream);
  }
  cudaFree(scratch);
}

void Buffer::reset(size_t bytes) {
  if (bytes == size) return;
  if (data) cudaFree(data);
  if (bytes > 0) cudaMalloc(&data, bytes);
  size = bytes;
}

void gemm_forward(float* x, cudaStream_t stream) {
  static int* locks = nullptr;
  if (locks == nullptr) {
    cudaMalloc(&locks, 256 * sizeof(int));
  }
  gemm<<<1, 1, 0, stream>>>(x, locks);
}

int train_layers() {
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (int b = 0; b < 1000; ++b) {
      forward(&model, 1 << 20);
      backward(&model);
      model_update(&model);
    }
  }
  for (auto& layer : layers) cudaFree(layer.weights);
  return 0;
}

// A kernel that launches others is no forward pass; only the trial below calls what it calls.
void multiply_on_device(const float* host, float* out, int n) {
  float* device;
  cudaMalloc(&device, n * sizeof(float));
  cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(out, device, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device);
}

__global__ void backward_kernel(float* x, float* grad, int n) { multiply_on_device(x, grad, n); }

int try_multiply() {
  float x[4] = {}, y[4] = {};
  multiply_on_device(x, y, 4);
  return y[0] > 0;
}

int reduce_launcher(float* x, int n, int type, cudaStream_t stream) {
  float* partial = workspace_of(n);
  if (type == 0) {
    reduce_kernel<<<1, 256, 0, stream>>>(x, partial, n);
  } else {
    cudaFree(partial);
    return static_cast<int>(Status::kErrorUnsupportedType);
  }
  return 0;
}

// What went wrong, and a device that is chosen once.
bool copy_rows(const float* host, float* device, int n) {
  for (int i = 0; i < n; ++i) {
    cudaError_t status = cudaMemcpy(device + i, host + i, sizeof(float), cudaMemcpyHostToDevice);
    if (status != cudaSuccess) {
      cudaFree(device);
      return false;
    }
  }
  return true;
}

void Handles::SetDevice(int id) {
  if (id == device_) return;
  cudaSetDevice(id);
  cublasDestroy(handle_);
  cublasCreate(&handle_);
  device_ = id;
}

float reduce_mean(const float* values, int n) {
  static float* mean = nullptr;
  if (!mean) cudaMalloc(&mean, sizeof(float));  // when it is first wanted
  reduce_kernel<<<1, 256>>>(values, mean, n);
  return read_one(mean);
}
