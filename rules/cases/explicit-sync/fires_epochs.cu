// All data in one batch: the loop over epochs is the loop over steps, and no function says more.
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void subtract(float* weights, const float* gradients, float rate);

void fit(cublasHandle_t handle, float* x, float* w, float* dw, int n, int num_epochs) {
  const float one = 1.f, zero = 0.f;
  for (int i = 0; i < num_epochs; i++) {
    cudaDeviceSynchronize();  // expect: explicit-sync
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, x, n, w, n, &zero, dw, n);
    subtract<<<n / 256, 256>>>(w, dw, 0.1f);
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
  cudaDeviceSynchronize();
}

int main() { fit(make_handle(), data(), weights(), gradients(), 1024, 100); }
