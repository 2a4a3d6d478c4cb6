// Handles that are made once.
#include <cublas_v2.h>
#include <cuda_runtime.h>

cublasHandle_t shared_handle() {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr) cublasCreate(&handle);
  return handle;
}

struct Context {
  Context() {
    cublasCreate(&handle);
    cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  }
  ~Context() {
    cublasDestroy(handle);
    handle = nullptr;
  }
  cublasHandle_t handle;
};

void matmul_forward(Context& context, const float* a, const float* b, float* c, int n) {
  const float one = 1, zero = 0;
  cublasSgemm(context.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
}

curandGenerator_t& generator_forward() {
  static curandGenerator_t generator;
  static bool made;
  if (!made) {
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    made = true;
  }
  noise_kernel<<<32, 256>>>(generator);
  return generator;  // curandDestroyGenerator() is called by nobody
}

struct Contraction {
  Contraction() { cutensorCreate(&handle); }
  ~Contraction() { cutensorDestroy(handle); }
  void run(const float* a, const float* b, float* c, cudaStream_t stream) {
    cutensorContract(handle, plan, a, b, c, stream);
  }
  cutensorHandle_t handle;
  cutensorPlan_t plan;
};
