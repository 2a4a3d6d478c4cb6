#include <memory>

struct Storage {
  explicit Storage(size_t n) { cudaMalloc(&data, n); }
  ~Storage() { cudaFree(data); }
  float* data = nullptr;
};

struct Tensor {
  Tensor() = default;
  explicit Tensor(size_t n) : storage(std::make_shared<Storage>(n)) {}
  Tensor(const Tensor& other) : storage(other.storage) {}
  std::shared_ptr<Storage> storage;
};

struct Options {
  explicit Options(int n) : width(n) {}
  int width;
};

__global__ void scale(float* x) { x[threadIdx.x] *= 2; }

struct Trainer {
  explicit Trainer(size_t n) : hidden(n) {}

  void train(int steps) {
    Tensor mean(8);  // once
    for (int step = 0; step < steps; ++step) {
      Tensor shared;               // of nothing yet
      Options options(step);       // on the host
      auto more = Options(3);
      if (!kept) kept = std::make_unique<Tensor>(4096);
      scale<<<1, 32>>>(hidden.storage->data);
      backward(hidden, shared, options, more, mean);
      update_weights(hidden);
    }
  }

  Tensor hidden;
  std::unique_ptr<Tensor> kept;
};
