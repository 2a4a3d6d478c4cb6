#include <nccl.h>

void reduce_gradients(float** grads, const size_t* sizes, int n, ncclComm_t comm, cudaStream_t s) {
  ncclGroupStart();
  for (int i = 0; i < n; ++i) {
    ncclAllReduce(grads[i], grads[i], sizes[i], ncclFloat, ncclSum, comm, s);
  }
  ncclGroupEnd();
}

int main() {
  for (int step = 0; step < 100; ++step) {
    model_backward(grads);
    reduce_gradients(grads, sizes, 64, comm, stream);
    ncclAllReduce(flat, flat, total, ncclFloat, ncclSum, comm, stream);
    model_update(grads);
  }
}
