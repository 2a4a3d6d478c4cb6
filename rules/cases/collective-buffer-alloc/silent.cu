// Buffers that are made once and registered, or that grow.
#include <cuda_runtime.h>
#include <nccl.h>

class Reducer {
 public:
  Reducer(ncclComm_t comm, size_t n) : comm_(comm), n_(n) {
    ncclMemAlloc(reinterpret_cast<void**>(&packed_), n * sizeof(float));
    ncclCommRegister(comm, packed_, n * sizeof(float), &handle_);
  }

  void reduce(Model* model, cudaStream_t stream) {
    pack_kernel<<<256, 256, 0, stream>>>(packed_, model->grads, n_);
    ncclAllReduce(packed_, packed_, n_, ncclFloat, ncclSum, comm_, stream);
    unpack_kernel<<<256, 256, 0, stream>>>(model->grads, packed_, n_);
  }

 private:
  ncclComm_t comm_;
  size_t n_;
  float* packed_ = nullptr;
  void* handle_ = nullptr;
};

// Asked for again only when it is too small.
void gather_tokens(Buffer* buffer, const float* tokens, size_t n, ncclComm_t comm, cudaStream_t stream) {
  if (buffer->capacity < n) {
    cudaFree(buffer->data);
    cudaMalloc(&buffer->data, n * sizeof(float));
    buffer->capacity = n;
  }
  ncclAllGather(tokens, buffer->data, n, ncclFloat, comm, stream);
}

int main() {
  float* stats;
  cudaMalloc(&stats, 1024);
  ncclAllReduce(stats, stats, 256, ncclFloat, ncclSum, comm, stream);
  Reducer reducer(comm, model.size);
  for (int step = 0; step < num_steps; ++step) {
    model_forward<<<256, 256, 0, stream>>>(model.acts, inputs);
    model_backward<<<256, 256, 0, stream>>>(model.acts, model.grads);
    gather_tokens(&buffer, model.tokens, 4096, comm, stream);
    reducer.reduce(&model, stream);
    sgd_update<<<256, 256, 0, stream>>>(model.weights, model.grads, 1e-3f);
  }
  cudaFree(stats);
}
