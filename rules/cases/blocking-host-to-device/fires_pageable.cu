// A copy that is called asynchronous from memory that is pageable.
#include <cuda_runtime.h>

#include <vector>

void train(float* x, float* y, float* w, const std::vector<std::vector<float>>& batches,
           cudaStream_t stream, const float* pinned) {
  float* rows = new float[64];
  for (const std::vector<float>& batch : batches) {
    cudaMemcpyAsync(x, rows, 256, cudaMemcpyHostToDevice, stream);  // expect: blocking-host-to-device
    cudaMemcpyAsync(x, batch.data(), 256, cudaMemcpyHostToDevice, stream);  // expect: blocking-host-to-device
    cudaMemcpyAsync(y, pinned, 256, cudaMemcpyHostToDevice, stream);
    forward<<<10, 256, 0, stream>>>(x, y, w);
    backward<<<10, 256, 0, stream>>>(y, x);
    sgd_update<<<10, 256, 0, stream>>>(w, x, 0.1f);
  }
}
