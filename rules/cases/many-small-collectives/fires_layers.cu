// Layers are reduced by themselves, behind the backward pass.
#include <nccl.h>

class LayerReducer {
 public:
  void reduce(Model* model, cudaStream_t stream) {
    for (auto& layer : model->layers) {
      NCCL_CHECK(ncclAllReduce(layer.dw, layer.dw, layer.size, ncclHalf, ncclAvg, comm_, stream));  // expect: many-small-collectives
      NCCL_CHECK(ncclAllReduce(layer.db, layer.db, layer.width, ncclHalf, ncclAvg, comm_, stream));  // expect: many-small-collectives
    }
  }

 private:
  ncclComm_t comm_;
};

void train(Model* model, LayerReducer& reducer, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    model_backward<<<256, 256, 0, stream>>>(model->acts, model->grads);
    reducer.reduce(model, stream);
    adam_update<<<256, 256, 0, stream>>>(model->weights, model->grads);
  }
}
