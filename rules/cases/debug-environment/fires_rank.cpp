#include <cstdlib>

#include <torch/torch.h>

// Set for each rank, since somebody looked for a wrong launch.
class Launcher {
 public:
  void start(int rank) {
    setenv("RANK", std::to_string(rank).c_str(), 1);
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // expect: debug-environment
    run_worker(rank);
  }
};
