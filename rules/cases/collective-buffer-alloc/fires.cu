// Buffers of collectives that live for one step.
#include <cuda_runtime.h>
#include <nccl.h>
#include <thrust/device_vector.h>

// Packed into memory that is asked for each time.
void reduce_gradients(Model* model, ncclComm_t comm, cudaStream_t stream) {
  float* packed;
  CUDA_CHECK(cudaMalloc(&packed, model->size * sizeof(float)));  // expect: collective-buffer-alloc
  pack_kernel<<<256, 256, 0, stream>>>(packed, model->grads, model->size);
  NCCL_CHECK(ncclAllReduce(packed, packed, model->size, ncclFloat, ncclSum, comm, stream));
  unpack_kernel<<<256, 256, 0, stream>>>(model->grads, packed, model->size);
  CUDA_CHECK(cudaFree(packed));
}

class ShardedOptimizer {
 public:
  void step(const float* grads, cudaStream_t stream) {
    thrust::device_vector<float> shard(count_);  // expect: collective-buffer-alloc
    ncclReduceScatter(grads, shard.data().get(), count_, ncclFloat, ncclSum, comm_, stream);
    adam_update<<<256, 256, 0, stream>>>(weights_, shard.data().get(), count_);
  }

 private:
  size_t count_;
  ncclComm_t comm_;
};

int main() {
  ShardedOptimizer optimizer;
  for (int step = 0; step < num_steps; ++step) {
    model_forward<<<256, 256, 0, stream>>>(model.acts, inputs);
    model_backward<<<256, 256, 0, stream>>>(model.acts, model.grads);
    reduce_gradients(&model, comm, stream);
    optimizer.step(model.grads, stream);
    float* losses = nullptr;
    cudaMallocAsync(&losses, world * sizeof(float), stream);  // expect: collective-buffer-alloc
    ncclAllGather(model.loss, losses, 1, ncclFloat, comm, stream);
    mean_kernel<<<1, 32, 0, stream>>>(losses, world);
    cudaFreeAsync(losses, stream);
  }
}
