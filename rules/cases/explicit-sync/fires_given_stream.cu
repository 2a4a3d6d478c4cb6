// Who hands a stream on, or holds what launches, queues work as well.
#include <cuda_runtime.h>

struct Potential {
  virtual void execute(const double* x, double* f, cudaStream_t stream) = 0;
};

struct Bonds : Potential {
  void execute(const double* x, double* f, cudaStream_t stream) override {
    bonds_kernel<<<32, 256, 0, stream>>>(x, f);
  }
};

// Python steps it: ctxt.step(lambda)
void Context::step(double lambda) {
  for (size_t i = 0; i < potentials_.size(); i++) potentials_[i]->execute(x_, f_, stream_);
  cudaDeviceSynchronize();  // expect: explicit-sync
  integrator_->move(x_, f_, lambda);
}

void HashTable::insert(const long* keys, const float* values, int n, cudaStream_t stream) {
  grow_if_needed(n);
  CUDA_CHECK(cudaDeviceSynchronize());  // expect: explicit-sync
  table_->upsert(keys, values, n, stream);
}

void Noise::generate_normal(float* out, int n) {
  auto stream = handle_.get_stream();
  distribution_.fill_uniform(out, n, handle_.get_stream());
  CUDA_CHECK(cudaStreamSynchronize(stream));  // expect: explicit-sync
}
