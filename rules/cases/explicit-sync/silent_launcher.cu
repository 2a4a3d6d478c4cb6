#include <cuda_runtime.h>

// Once, or now and then.
void init_weights(float* weights, int n) {
  fill_kernel<<<32, 256>>>(weights, n);
  cudaDeviceSynchronize();
}

void create_tables(float* table) {
  table_kernel<<<32, 256>>>(table);
  cudaDeviceSynchronize();
}

Buffer::~Buffer() {
  clear_kernel<<<32, 256>>>(data_);
  cudaStreamSynchronize(stream_);
}

void save_checkpoint(const float* weights, float* host, size_t bytes, cudaStream_t stream) {
  cudaMemcpyAsync(host, weights, bytes, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
}

void set_params(float* params, const float* given, int n) {
  convert_kernel<<<32, 256>>>(params, given, n);
  cudaDeviceSynchronize();
}

// Queues nothing: others answer for it.
void Device::Flush() {
  cudaStreamSynchronize(stream_);
}

void checked(float* x, int n) {
  scale_kernel<<<32, 256>>>(x, n);
#ifdef DEBUG
  cudaDeviceSynchronize();
#endif
  if (!launched(x)) {
    cudaDeviceSynchronize();
    throw std::runtime_error("scale");
  }
}

// An evaluation, not a layer that is evaluated.
void evaluate_epoch(const Model& model, const float* input, int n) {
  accuracy_kernel<<<32, 256>>>(model.weights, input, n);
  cudaDeviceSynchronize();
}

// When told to.
void transform(plan p, float* x, int n, int check_err) {
  butterfly_kernel<<<32, 256>>>(x, n);
  if (check_err) cudaDeviceSynchronize();
}
