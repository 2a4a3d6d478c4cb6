// A method of the class begins and ends the group.
#include <nccl.h>

class Replicas {
 public:
  void begin() {
    ncclGroupStart();
  }
  void reduce(Model& model) {
    begin();
    for (auto& p : model.parameters)
      ncclAllReduce(p.grad, p.grad, p.size, ncclFloat, ncclSum, comm_, stream_);
    ncclGroupEnd();
  }

 private:
  ncclComm_t comm_;
  cudaStream_t stream_;
};

void train(Model& model, Replicas& replicas, int max_iterations) {
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    model.backward();
    replicas.reduce(model);
    model.update();
  }
}
