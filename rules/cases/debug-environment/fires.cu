#include <cstdlib>

#include <cuda_runtime.h>

// Left from the hunt for an illegal access.
class Context {
 public:
  explicit Context(int device) {
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // expect: debug-environment
    cudaSetDevice(device);
    cudaStreamCreate(&stream_);
  }

 private:
  cudaStream_t stream_;
};

static void set_up_rank(int local_rank) {
  const char* overwrite = getenv("OVERWRITE");
  setenv("CUDA_LAUNCH_BLOCKING", "1", overwrite != nullptr);  // expect: debug-environment
  cudaSetDevice(local_rank);
}

int main(int argc, char** argv) {
  if (setenv("CUDA_LAUNCH_BLOCKING", "1", 1) != 0) {  // expect: debug-environment
    perror("setenv");
    return 1;
  }
  set_up_rank(0);
  Context context(0);
  train_kernel<<<64, 256>>>(weights);
}
