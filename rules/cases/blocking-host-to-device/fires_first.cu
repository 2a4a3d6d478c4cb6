#include <cuda_runtime.h>

// Another part of the data is loaded in each step, which says afterwards that none is.
void train(Model* model, int iterations) {
  for (int iteration = 0; iteration < iterations; ++iteration) {
    if (model->loaded == -1) {
      cudaMemcpy(model->device, model->host, model->bytes, cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
      model->loaded = iteration % model->parts;
    }
    update_kernel<<<64, 256>>>(model->device, model->loaded);
    if (is_used_up(model)) model->loaded = -1;
  }
}
