#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <thrust/reduce.h>

// On the device all the way.
float norm(cublasHandle_t handle, const float* x, float* result, int n) {
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  cublasSnrm2(handle, n, x, 1, result);
  scale_kernel<<<32, 256>>>(x, result, n);
}

// In a kernel it is that thread's own loop.
__device__ float row_sum(const float* x, int n) {
  return thrust::reduce(thrust::seq, x, x + n);
}

void pull_array(float* x_gpu, float* x, size_t n) {
  cudaMemcpy(x, x_gpu, n * sizeof(float), cudaMemcpyDeviceToHost);
}

void save_weights(Layer l, FILE* f) {
  pull_array(l.weights_gpu, l.weights, l.n);
  fwrite(l.weights, sizeof(float), l.n, f);
}

// Setting a library up is no work on the device.
void describe(const Work* w, float* b, int n) {
  CUBLAS(setStream)(w->handle, w->stream);
  cudaMemcpy(b, w->p, n * sizeof(float), cudaMemcpyDeviceToHost);
}
