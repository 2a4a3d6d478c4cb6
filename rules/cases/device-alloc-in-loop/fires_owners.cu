#include <memory>

struct Storage {
  explicit Storage(size_t n) { cudaMalloc(&data, n); }
  ~Storage() { cudaFree(data); }
  float* data = nullptr;
};

struct Scratch {
  Scratch() { cudaMalloc(&data, 4096); }
  ~Scratch() { cudaFree(data); }
  float* data = nullptr;
};

// what it holds takes the memory
struct Tensor {
  explicit Tensor(size_t n) : storage(std::make_shared<Storage>(n)) {}
  std::shared_ptr<Storage> storage;
};

struct Matrix {
  Matrix(size_t rows, size_t columns) : values(rows * columns) {}
  Storage values;
};

__global__ void scale(float* x) { x[threadIdx.x] *= 2; }

void train(int steps, size_t n) {
  for (int step = 0; step < steps; ++step) {
    Tensor hidden(n);                            // expect: device-alloc-in-loop
    Matrix weights(n, n);                        // expect: device-alloc-in-loop
    Scratch scratch;                             // expect: device-alloc-in-loop
    auto kept = std::make_unique<Storage>(n);    // expect: device-alloc-in-loop
    auto copy = Storage(n);                      // expect: device-alloc-in-loop
    Tensor* loss = new Tensor(1);                // expect: device-alloc-in-loop
    scale<<<1, 32>>>(hidden.storage->data);
    backward(hidden, weights, scratch, kept, copy, loss);
    update_weights(weights);
  }
}
