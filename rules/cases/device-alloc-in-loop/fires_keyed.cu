// A table that each call begins anew keeps nothing.
#include <cuda_runtime.h>

#include <map>

void forward(float* x, const int* sizes, int parts) {
  std::map<int, float*> buffers;
  for (int i = 0; i < parts; ++i) {
    if (buffers.find(sizes[i]) == buffers.end()) {
      float* made = nullptr;
      cudaMalloc(&made, sizes[i] * sizeof(float));  // expect: device-alloc-in-loop
      buffers[sizes[i]] = made;
    }
    scale<<<32, 256>>>(x, buffers[sizes[i]], sizes[i]);
  }
}
