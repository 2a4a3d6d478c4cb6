// A network calls its layers' methods through what its loops take from a container.
#include <cuda_runtime.h>

#include <memory>
#include <vector>

class Stage {
 public:
  virtual ~Stage() = default;
  virtual void run(float* x) = 0;
  virtual void update(float rate) = 0;
};

class DenseStage : public Stage {
 public:
  void run(float* x) override;
  void update(float rate) override;
};

void DenseStage::run(float* x) {
  multiply<<<64, 256>>>(x);
  cudaDeviceSynchronize();  // expect: explicit-sync
}

void DenseStage::update(float rate) {
  add_gradient<<<64, 256>>>(rate);
  cudaStreamSynchronize(0);  // expect: explicit-sync
}

// Nobody calls it in a step, and its own name is common.
class Report {
 public:
  void update(float rate) { cudaDeviceSynchronize(); }
};

void Network::train_batch(float* x, float rate) {
  for (auto it = stages.begin(); it != stages.end(); ++it) (*it)->run(x);
  backward(x);
  for (auto& stage : stages) stage->update(rate);
  for (auto& stages : stages) stages->update(rate);
  for (auto it = it.begin(); it != it.end(); ++it) it->update(rate);
}

int main() {
  Network network;
  for (int step = 0; step < 1000; ++step) network.train_batch(x, 0.1f);
}
