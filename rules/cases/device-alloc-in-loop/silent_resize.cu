// It allocates where what it has is too small.
#include <cuda_runtime.h>

__global__ void forward_kernel(const float* in, float* out, int n);

struct Net {
  void resize(int size, float** data) {
    if (size > capacity_) {
      cudaFree(*data);
      cudaMalloc(data, size * sizeof(float));
      capacity_ = size;
    }
  }
  void forward(const float* in, int n, float** out) {
    resize(n, out);
    forward_kernel<<<n / 256, 256>>>(in, *out, n);
  }
  void backward() { forward_kernel<<<1, 256>>>(nullptr, nullptr, 0); }
  int capacity_ = 0;
};

int main() {
  Net net;
  float *in = nullptr, *out = nullptr;
  for (int i = 0; i < 1000; i++) {
    net.forward(in, 4096, &out);
    net.backward();
  }
}
