// Streams and plans that are kept.
#include <cuda_runtime.h>
#include <cufft.h>

class Pool {
 public:
  explicit Pool(int n) : streams_(n) {
    for (auto& stream : streams_) cudaStreamCreate(&stream);
    warm_up(streams_[0], n);
  }
  ~Pool() {
    for (auto& stream : streams_) cudaStreamDestroy(stream);
    streams_.clear();
  }

 private:
  std::vector<cudaStream_t> streams_;
};

void Estimator::fit(const float* x, int n) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  solve(x, n, stream);
  cudaStreamDestroy(stream);
}

void Spectrum::apply(cufftComplex* x, int n) {
  if (plan_ == 0) {
    cufftPlan1d(&plan_, n, CUFFT_C2C, 1);
  }
  cufftExecC2C(plan_, x, x, CUFFT_FORWARD);
  scale<<<n / 256, 256>>>(x, n);
}

// Pointers to vectors are no vectors.
void Shards::gather(int n) {
  thrust::device_vector<float>* parts[8] = {};
  gather_kernel<<<n / 256, 256>>>(parts, n);
}

// What a stream of text is written to is no work for the device.
void Table::describe(std::ostream& stream, cudaStream_t kept) {
  cudaStream_t probe;
  cudaStreamCreate(&probe);
  write_header(stream, kept);
  cudaStreamDestroy(probe);
}
