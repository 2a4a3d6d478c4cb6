// One function of a library times its kernels: the loops of the others are none of its trials. Nor
// is a macro that asks for a direction a backward pass, which would make a tuner a training loop.
#include <cuda_runtime.h>

static cudaEvent_t start[8], end[8];

void print_profile() {
  for (int i = 0; i < 8; ++i) {
    float ms = 0;
    cudaEventElapsedTime(&ms, start[i], end[i]);
    printf("%d %f\n", i, ms);
  }
}

void exchange(Face& face, cudaStream_t* streams, int n) {
  pack_kernel<<<n, 64, 0, streams[8]>>>(face.data, n);
  int done = 0;
  while (done < n) {
    for (int i = 0; i < n; ++i) {
      if (!face.arrived(i)) continue;
      ++done;
      cudaStreamSynchronize(streams[i]);  // expect: explicit-sync
      face.scatter(i, streams[i]);
    }
  }
}

struct Link : Tunable {
  void apply(const cudaStream_t& stream) {
    tune(*this);
    if (GOES_FORWARDS(sig))
      link_kernel<1><<<n, 64, 0, stream>>>(data);
    else if (GOES_BACKWARDS(sig))
      link_kernel<0><<<n, 64, 0, stream>>>(data);
  }
  float* data;
  int sig;
  int n;
};

void tune(Link& link) {
  for (int block = 32; block <= 1024; block += 32) link.apply(0);
}

void staples(Link& link, int n) {
  link.apply(0);
  cudaDeviceSynchronize();  // expect: explicit-sync
  for (int i = 0; i < n; ++i) link.apply(0);
}
