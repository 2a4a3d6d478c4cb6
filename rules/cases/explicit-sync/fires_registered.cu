#include <cuda_runtime.h>

template <typename IdType>
void neighbor_matching(const CSRMatrix& csr, IdType* result) {
  CURAND_CALL(curandGenerateUniform(generator(), weights(), csr.num_edges));
  cudaDeviceSynchronize();  // expect: explicit-sync
  match_kernel<IdType><<<64, 256>>>(csr.indices, weights(), result);
}

// What a library offers to others runs when they call it.
REGISTER_GLOBAL("geometry.NeighborMatching").set_body([](Args args, Value* out) {
  neighbor_matching<int64_t>(args[0], args[1]);
});
