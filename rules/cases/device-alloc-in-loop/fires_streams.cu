// Streams and plans that each call makes and destroys.
#include <cuda_runtime.h>
#include <cufft.h>

class EmbeddingTable {
 public:
  // The table launches its kernels on the stream that it is given.
  void find(const long* keys, float* values, int n) {
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));  // expect: device-alloc-in-loop
    table_->get(keys, values, n, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));  // expect: device-alloc-in-loop
  }

 private:
  Table* table_ = nullptr;
};

void convolve_fft(cufftComplex* x, const cufftComplex* filter, int n) {
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_C2C, 1);  // expect: device-alloc-in-loop
  cufftExecC2C(plan, x, x, CUFFT_FORWARD);
  multiply<<<n / 256, 256>>>(x, filter, n);
  cufftExecC2C(plan, x, x, CUFFT_INVERSE);
  cufftDestroy(plan);  // expect: device-alloc-in-loop
}

void train(Net& net, int max_iterations) {
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    cudaStream_t copies;
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);  // expect: device-alloc-in-loop
    net.forward(copies);
    net.backward(copies);
    net.update(copies);
    cudaStreamDestroy(copies);  // expect: device-alloc-in-loop
  }
}
