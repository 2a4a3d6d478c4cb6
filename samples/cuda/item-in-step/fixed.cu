// The same steps; their losses stay on the GPU and are read back once, at the end. Build: nvcc -g -O2 -o fixed fixed.cu
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kWidth = 1024;
constexpr int kBatch = 256;
constexpr int kLayers = 4;
constexpr int kSteps = 200;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "fixed: %s\n", cudaGetErrorString(error));
    std::exit(1);
  }
}

float* device_array(int count, float value) {
  float* on_host = static_cast<float*>(std::malloc(count * sizeof(float)));
  for (int i = 0; i < count; ++i) on_host[i] = value * static_cast<float>(i % 7 - 3);
  float* on_device = nullptr;
  check(cudaMalloc(&on_device, count * sizeof(float)));
  check(cudaMemcpy(on_device, on_host, count * sizeof(float), cudaMemcpyHostToDevice));
  std::free(on_host);
  return on_device;
}

__global__ void forward_layer(const float* input, const float* weights, float* output) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  float sum = 0;
  for (int k = 0; k < kWidth; ++k) sum += input[row * kWidth + k] * weights[k * kWidth + column];
  output[row * kWidth + column] = tanhf(sum);
}

// One block, whose threads add in the same order in every run.
__global__ void mean_square(const float* output, float* loss) {
  __shared__ float sums[256];
  float sum = 0;
  for (int i = threadIdx.x; i < kBatch * kWidth; i += blockDim.x) sum += output[i] * output[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *loss = sums[0] / (kBatch * kWidth);
}

__global__ void sgd(float* weights, const float* loss, float rate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  weights[i] -= rate * *loss * weights[i];
}

}  // namespace

int main() {
  float* weights[kLayers];
  for (float*& layer : weights) layer = device_array(kWidth * kWidth, 1e-3F);
  float* now = device_array(kBatch * kWidth, 0.1F);
  float* next = device_array(kBatch * kWidth, 0);
  float* losses = device_array(kSteps, 0);

  float total = 0;
  for (int step = 0; step < kSteps; ++step) {
    float* loss = losses + step;
    for (float* layer : weights) {
      forward_layer<<<dim3(kWidth / 128, kBatch), 128>>>(now, layer, next);
      float* swapped = now;
      now = next;
      next = swapped;
    }
    mean_square<<<1, 256>>>(now, loss);
    for (float* layer : weights) sgd<<<kWidth * kWidth / 256, 256>>>(layer, loss, 1e-3F);
  }
  float values[kSteps];
  check(cudaMemcpy(values, losses, sizeof(values), cudaMemcpyDeviceToHost));
  for (float value : values) total += value;
  std::printf("%a\n", total);
  return 0;
}
