// How fast is the library's product? No training.
#include <cublas_v2.h>
#include <cuda_runtime.h>

float benchmark(cublasHandle_t handle, float* x, float* w, float* y, int n, int repetitions) {
  const float one = 1.f, zero = 0.f;
  const auto begin = now();
  for (int i = 0; i < repetitions; i++) {
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, x, n, w, n, &zero, y, n);
    cudaDeviceSynchronize();
  }
  return (now() - begin) / repetitions;
}

int main() { report(benchmark(make_handle(), data(), weights(), output(), 1024, 100)); }
