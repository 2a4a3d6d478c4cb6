// Of what a resize() is handed it compares no sizes: each call allocates.
#include <cuda_runtime.h>

__global__ void forward_kernel(const float* in, float* out, int n);

struct Net {
  void resize(int size, float** data) {
    if (*data != NULL) {
      cudaFree(*data);  // expect: device-alloc-in-loop
    }
    cudaMalloc(data, size * sizeof(float));  // expect: device-alloc-in-loop
  }
  void forward(const float* in, int n, float** out) {
    resize(n, out);
    forward_kernel<<<n / 256, 256>>>(in, *out, n);
  }
  void backward() { forward_kernel<<<1, 256>>>(nullptr, nullptr, 0); }
};

int main() {
  Net net;
  float *in = nullptr, *out = nullptr;
  for (int i = 0; i < 1000; i++) {
    net.forward(in, 4096, &out);
    net.backward();
  }
}
