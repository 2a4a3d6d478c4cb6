#include <cuda_runtime.h>
#include <memory>

// The object that make_unique() makes is the step's.
class Trainer {
 public:
  void trainStep(float* batch) {
    forward_kernel<<<64, 256>>>(batch);
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
};

int main() {
  auto trainer = std::make_unique<Trainer>();
  for (int iter = 0; iter < 1000; ++iter) trainer->trainStep(next());
}
