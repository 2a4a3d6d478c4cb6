#include <cstdlib>

#include <torch/torch.h>

int main(int argc, char** argv) {
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("NCCL_DEBUG", "WARN", 1);
  const bool debug = argc > 1;
  if (debug) {
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  }
  return getenv("CUDA_LAUNCH_BLOCKING") != nullptr;
}
