#include <cstdlib>

#include <torch/torch.h>

void choose_network(const std::string& interface) {
  setenv("NCCL_SOCKET_IFNAME", interface.c_str(), 1);
  setenv("NCCL_DEBUG", "WARN", 0);
}

// The crash is looked for only where somebody asks.
void look_for_crash(bool verbose) {
#ifdef DEBUG
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
#endif
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
}

int run(int argc, char** argv) {
  choose_network("eth0");
  look_for_crash(argc > 2);
  if (std::getenv("CUDA_LAUNCH_BLOCKING") != nullptr) {
    std::cerr << "kernels are launched one by one" << std::endl;
  }
  return train(argv[1]);
}
