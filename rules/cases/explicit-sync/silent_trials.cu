// Macros that are empty but in a build for trials.
#include <cuda_runtime.h>

#ifdef DEBUG
#define D(x) x
#else
#define D(x)
#endif

struct Map {
  void forward(float* x, float* y, cudaStream_t stream) {
    map_kernel<<<10, 256, 0, stream>>>(x, y);
    D(cudaDeviceSynchronize());
    DEBUG_ONLY(cudaStreamSynchronize(stream));
  }
};
