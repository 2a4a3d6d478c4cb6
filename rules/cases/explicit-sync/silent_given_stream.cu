// What only handles streams, or reads and writes one of text, is no operator.
#include <cuda_runtime.h>

void Resources::release(cudaStream_t stream) {
  StreamGuard guard(stream, device_);
  record_event(done_, stream);
  cudaStreamSynchronize(stream);
}

void Log::describe(std::ostream& stream, cudaStream_t device_stream) {
  write_header(stream, "tables");
  cudaDeviceSynchronize();
}

void Estimator::fit_transform(const float* x, float* out, cudaStream_t stream) {
  solve(x, out, stream);
  cudaStreamSynchronize(stream);
}
