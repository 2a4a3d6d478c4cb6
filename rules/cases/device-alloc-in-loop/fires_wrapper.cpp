// The kernels lie behind wrappers in another file's functions.
#include <cuda_runtime.h>

void cuda_sum(int blocks, const float* x, float* out, int n) {
  cudaF_sum(blocks, x, out, n);
}
void cudaF_sum(int blocks, const float* x, float* out, int n) {
  sum_kernel<<<blocks, 256>>>(x, out, n);
}

float CuVector::Sum() const {
  float sum = 0, *device_sum;
  CU_SAFE_CALL(cudaMalloc(reinterpret_cast<void**>(&device_sum), sizeof(float)));  // expect: device-alloc-in-loop
  cuda_sum(1, data_, device_sum, dim_);
  CU_SAFE_CALL(cudaMemcpy(&sum, device_sum, sizeof(float), cudaMemcpyDeviceToHost));
  CU_SAFE_CALL(cudaFree(device_sum));  // expect: device-alloc-in-loop
  return sum;
}

// Memory that a helper takes and another gives back, in each call of a layer.
class Memory {
 public:
  static Memory* instance();
  void gpuMallocMemory(void** pointer, int size);
  void freeGpuMemory(void* pointer);
};
void Memory::gpuMallocMemory(void** pointer, int size) {
  if (*pointer != NULL) CU_SAFE_CALL(cudaFree(*pointer));
  CU_SAFE_CALL(cudaMalloc(pointer, size));
}
void Memory::freeGpuMemory(void* pointer) { CU_SAFE_CALL(cudaFree(pointer)); }

void free_buffers(Buffers& buffers) {
  cudaFree(buffers.counts);  // expect: device-alloc-in-loop
}

void train_layers(Net& net, Layer* layer, int batches, float lr) {
  for (int b = 0; b < batches; ++b) {
    float* out = NULL;
    Memory::instance()->gpuMallocMemory((void**)&out, 4 * layer->size);  // expect: device-alloc-in-loop
    Buffers buffers = layer->forward(out);
    net.backward(out);
    update_weights(net, lr);
    free_buffers(buffers);
    Memory::instance()->freeGpuMemory(out);  // expect: device-alloc-in-loop
  }
}

class Softmax {
 public:
  float* forward(float* input) {
    CU_SAFE_CALL(cudaMalloc(&output_, size_ * sizeof(float)));  // expect: device-alloc-in-loop
    softmax_kernel<<<blocks_, 256>>>(input, output_, size_);
    return output_;
  }
  float* output_;
};
