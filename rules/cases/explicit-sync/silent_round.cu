// What a program does once, or only when it fails, and what its steps do not reach.
#include <cuda_runtime.h>
#include <cstdlib>

__global__ void fill(float* x, int n);
__global__ void backward_kernel(float* x, int n);

class Field {
 public:
  void seed() {
    fill<<<n_ / 256, 256>>>(x_, n_);
    cudaDeviceSynchronize();
  }
  void give_up() {
    fill<<<n_ / 256, 256>>>(x_, n_);
    cudaDeviceSynchronize();
  }
  void relax() { fill<<<n_ / 256, 256>>>(x_, n_); }

 private:
  float* x_;
  int n_;
};

int main() {
  Field field;
  field.seed();
  for (int i = 0; i < 100; ++i) {
    field.relax();
    if (cudaGetLastError() != cudaSuccess) {
      field.give_up();
      std::exit(1);
    }
  }
}
