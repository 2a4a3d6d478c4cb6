// A macro of the program's own that allocates, whichever way it was built.
#include <cuda_runtime.h>

#ifdef ON_HOST_TOO
#define GPU_ALLOC(pointer, n)                            \
  do {                                                   \
    check(cudaMallocManaged((void**)&(pointer), n * 4)); \
  } while (0)
#else
#define GPU_ALLOC(pointer, n)                      \
  do {                                             \
    check(cudaMalloc((void**)&(pointer), (n) * 4)); \
  } while (0)
#endif
#define GPU_ALLOC_ONCE(pointer, n) \
  if (!(pointer)) check(cudaMalloc((void**)&(pointer), (n) * 4))

void train(float* x, float* y, float* w, float* kept, int steps) {
  for (int step = 0; step < steps; ++step) {
    float* scratch;
    GPU_ALLOC(scratch, 64);  // expect: device-alloc-in-loop
    GPU_ALLOC_ONCE(kept, 64);
    forward<<<10, 256>>>(x, y, scratch);
    backward<<<10, 256>>>(y, x, scratch, kept);
    sgd_update<<<10, 256>>>(w, x, 0.1f);
  }
}
