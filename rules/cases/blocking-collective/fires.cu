// Gradients and tokens that go from rank to rank through the host.
#include <cuda_runtime.h>
#include <mpi.h>

class HostReducer {
 public:
  // Staged in pinned memory: the device waits for the wire.
  void reduce(float* grads, size_t n, cudaStream_t stream) {
    cudaMemcpyAsync(staged_, grads, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, staged_, n, MPI_FLOAT, MPI_SUM, comm_));  // expect: blocking-collective
    cudaMemcpyAsync(grads, staged_, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  }

 private:
  float* staged_ = nullptr;
  MPI_Comm comm_;
};

// Tokens go to the ranks that hold their experts.
void exchange_tokens(float* send, float* received, int per_rank, cudaStream_t stream) {
  pack_kernel<<<256, 256, 0, stream>>>(send, per_rank);
  cudaStreamSynchronize(stream);
  MPI_Alltoall(send, per_rank, MPI_FLOAT, received, per_rank, MPI_FLOAT, MPI_COMM_WORLD);  // expect: blocking-collective
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HostReducer reducer;
  for (int step = 0; step < 1000; ++step) {
    embed_forward<<<256, 256, 0, stream>>>(tokens, acts);
    exchange_tokens(acts, expert_in, 4096, stream);
    experts_backward<<<256, 256, 0, stream>>>(expert_in, grads);
    reducer.reduce(grads, num_parameters, stream);
    sgd_update<<<256, 256, 0, stream>>>(weights, grads, 1e-3f);
    MPI_Barrier(MPI_COMM_WORLD);  // expect: blocking-collective
  }
  MPI_Finalize();
}
