// Another method of the class groups them.
#include <nccl.h>

class Replicas {
 public:
  void reduce_one_by_one(Model& model) {
    for (auto& p : model.parameters)
      ncclAllReduce(p.grad, p.grad, p.size, ncclFloat, ncclSum, comm_, stream_);  // expect: many-small-collectives
  }
  void reduce_grouped(Model& model) {
    ncclGroupStart();
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
    replicas.reduce_one_by_one(model);
    model.update();
  }
}
