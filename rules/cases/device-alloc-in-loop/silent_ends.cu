// What takes a program down, and what is left of a step that failed.
#include <cuda_runtime.h>

struct Context {
  void Shutdown() {
    cublasDestroy(handle_);
    cudaFree(buffer_);
  }
  cublasHandle_t handle_;
  float* buffer_;
};

struct Pool {
  bool forward(float* x, float* y, Arena& arena) {
    float* halves = arena.take(64);
    if (!convert(x, halves)) {
      cudaFree(halves);
      return false;
    }
    pool_kernel<<<10, 256>>>(halves, y);
    return true;
  }
};

void run(Context& context) {
  for (int i = 0; i < 10; ++i) {
    context.Shutdown();
  }
}
