// Steps that are reached through base classes, and by methods that name no object.
#include <cuda_runtime.h>

class TreeUpdater {
 public:
  virtual void Update(Gradients* gradients, Matrix* matrix) = 0;
};

class GpuTreeUpdater : public TreeUpdater {
 public:
  void Update(Gradients* gradients, Matrix* matrix) override {
    Reset(gradients);
    GrowTree(matrix);
  }

 private:
  void GrowTree(Matrix* matrix) {
    Reduce(matrix);
  }
  void Reduce(Matrix* matrix) {
    check(cudaDeviceSynchronize());  // expect: explicit-sync
    reducer_.AllReduceSum(matrix);
  }
};

// Takes other arguments: not meant.
class Monitor {
 public:
  void Update(int round) {
    cudaDeviceSynchronize();
  }
};

class Booster {
 public:
  void UpdateOneIter(int iteration, Matrix* matrix) {
    for (auto& updater : updaters_) {
      updater->Update(&gradients_, matrix);
    }
  }

 private:
  std::vector<std::unique_ptr<TreeUpdater>> updaters_;
};
