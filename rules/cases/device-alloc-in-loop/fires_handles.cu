// Handles of libraries, made and destroyed with each product.
#include <cublas_v2.h>
#include <cudnn.h>
#include <cuda_runtime.h>

void matmul_forward(const float* a, const float* b, float* c, int n) {
  cublasHandle_t handle;
  cublasCreate(&handle);  // expect: device-alloc-in-loop
  const float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  cublasDestroy(handle);  // expect: device-alloc-in-loop
}

void softmax_backward(const float* y, const float* dy, float* dx, int n) {
  cudnnHandle_t cudnn;
  cudnnCreate(&cudnn);  // expect: device-alloc-in-loop
  softmax_kernel<<<n / 256 + 1, 256>>>(y, dy, dx, n);
  cudnnDestroy(cudnn);  // expect: device-alloc-in-loop
}

void train(Net& net, int max_iterations) {
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    cublasHandle_t handle;
    cublasCreate(&handle);  // expect: device-alloc-in-loop
    net.forward(handle);
    net.backward(handle);
    net.update(handle);
    cublasDestroy(handle);  // expect: device-alloc-in-loop
  }
}

void contract_forward(const float* a, const float* b, float* c, cudaStream_t stream) {
  cutensorHandle_t handle;
  cutensorCreate(&handle);  // expect: device-alloc-in-loop
  cutensorContract(handle, plan_, a, b, c, stream);
  cutensorDestroy(handle);  // expect: device-alloc-in-loop
}
