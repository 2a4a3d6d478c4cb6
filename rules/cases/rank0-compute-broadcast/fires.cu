// The codebook is computed on one device and sent to the others, in each step.
#include <nccl.h>

class Quantizer {
 public:
  void train_step(const float* x, int n, cudaStream_t stream) {
    assign_kernel<<<256, 256, 0, stream>>>(x, codes_, n);
    if (rank_ == 0) {  // expect: rank0-compute-broadcast
      kmeans_kernel<<<256, 256, 0, stream>>>(x, codes_, book_, n);
      normalise_kernel<<<64, 256, 0, stream>>>(book_);
    }
    ncclBroadcast(book_, book_, 512 * 64, ncclFloat, 0, comm_, stream);
    loss_backward<<<256, 256, 0, stream>>>(x, book_, grads_);
    sgd_update<<<256, 256, 0, stream>>>(weights_, grads_, 1e-3f);
  }

 private:
  int rank_ = 0;
  ncclComm_t comm_;
};
