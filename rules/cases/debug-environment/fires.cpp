#include <cstdlib>

#include <torch/torch.h>

void configure() {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // expect: debug-environment
}
int main() {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 0);  // expect: debug-environment
  configure();
  configure_ranks();
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // expect: debug-environment
}

void configure_ranks() {
  setenv("NCCL_DEBUG", "TRACE", 1);  // expect: debug-environment
  setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL", 1);  // expect: debug-environment
}
