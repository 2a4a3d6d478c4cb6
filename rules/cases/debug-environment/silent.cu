#include <cstdlib>

#include <cuda_runtime.h>

// Connections for the copies beside the kernels: not a switch for debugging.
void set_up_streams(int streams) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  setenv("CUDA_MODULE_LOADING", "LAZY", 0);
  for (int i = 0; i < streams; ++i) cudaStreamCreate(&stream[i]);
}

// Whoever started the program may have set it: it is taken back.
void launch_freely() {
  unsetenv("CUDA_LAUNCH_BLOCKING");
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
}

void warn_when_slow() {
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && blocking[0] == '1') {
    std::fprintf(stderr, "CUDA_LAUNCH_BLOCKING is set: kernels run one at a time\n");
  }
}

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.debug_kernels) {
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  }
  launch_freely();
  set_up_streams(2);
  train_kernel<<<64, 256>>>(weights);
}
