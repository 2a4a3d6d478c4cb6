// All layers in one launch, or each as large as a message needs to be.
#include <nccl.h>

void reduce_layers(Layer* layers, int n, ncclComm_t comm, cudaStream_t stream) {
  ncclGroupStart();
  for (int l = 0; l < n; ++l) {
    ncclReduceScatter(layers[l].grads, layers[l].shard, layers[l].count, ncclHalf, ncclSum, comm, stream);
  }
  ncclGroupEnd();
}

// One buffer holds the gradients of all layers.
void train(Model* model, ncclComm_t comm, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    for (int l = 0; l < model->layers; ++l) {
      layer_backward<<<256, 256, 0, stream>>>(model->grads, l);
    }
    ncclAllReduce(model->grads, model->grads, model->size, ncclFloat, ncclAvg, comm, stream);
    adam_update<<<256, 256, 0, stream>>>(model->weights, model->grads);
  }
}
