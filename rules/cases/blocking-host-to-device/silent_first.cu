#include <cuda_runtime.h>

// The first part of the data is loaded where none was yet.
void train(Model* model, int iterations) {
  model->loaded = -1;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    if (model->loaded == -1) {
      cudaMemcpy(model->device, model->host, model->bytes, cudaMemcpyHostToDevice);
    }
    model->loaded = iteration % model->parts;
    update_kernel<<<64, 256>>>(model->device, model->loaded);
  }
}
