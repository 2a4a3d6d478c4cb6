#include <nccl.h>

void reduce_gradients(float** grads, const size_t* sizes, int n, ncclComm_t comm, cudaStream_t s) {
  for (int i = 0; i < n; ++i) {
    NCCLCHECK(ncclAllReduce(grads[i], grads[i], sizes[i], ncclFloat, ncclSum, comm, s));  // expect: many-small-collectives
  }
}

int main() {
  for (int step = 0; step < 100; ++step) {
    model_backward(grads);
    reduce_gradients(grads, sizes, 64, comm, stream);
    for (int r = 0; r < 4; ++r) {
      ncclBroadcast(stats[r], stats[r], 1, ncclFloat, r, comm, stream);  // expect: many-small-collectives
      ncclReduce(loss[r], loss[r], 1, ncclFloat, ncclSum, r, comm, stream);  // expect: many-small-collectives
    }
    model_update(grads);
  }
}
