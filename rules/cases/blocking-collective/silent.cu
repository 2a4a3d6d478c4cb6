// Ranks agree before and after the steps; in between the device reduces.
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

ncclComm_t connect(int rank, int world) {
  ncclUniqueId id;
  if (rank == 0) ncclGetUniqueId(&id);
  MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t comm;
  ncclCommInitRank(&comm, world, id, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  return comm;
}

// The wire works while the next layer's kernels run.
void reduce_behind(float* grads, float* staged, int layers, int per_layer, cudaStream_t stream) {
  std::vector<MPI_Request> requests(layers);
  for (int l = layers - 1; l >= 0; --l) {
    layer_backward<<<256, 256, 0, stream>>>(grads + l * per_layer);
    MPI_Iallreduce(MPI_IN_PLACE, staged + l * per_layer, per_layer, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[l]);
  }
  MPI_Waitall(layers, requests.data(), MPI_STATUSES_IGNORE);
}

void write_checkpoint(const float* weights, size_t n, int rank) {
  if (rank == 0) write_weights("weights.bin", weights, n);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ncclComm_t comm = connect(rank, world);
  for (int step = 0; step < num_steps; ++step) {
    model_forward<<<256, 256, 0, stream>>>(inputs, acts);
    model_backward<<<256, 256, 0, stream>>>(acts, grads);
    ncclAllReduce(grads, grads, n, ncclFloat, ncclSum, comm, stream);
    reduce_behind(grads, staged, 12, 4096, stream);
    model_update<<<256, 256, 0, stream>>>(weights, grads);
    if (step % 100 == 0) {
      MPI_Allreduce(&host_loss, &mean_loss, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (step > 0 && step % save_every == 0) {
      write_checkpoint(weights, n, rank);
    }
  }
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
