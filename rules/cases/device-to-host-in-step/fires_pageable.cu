// A copy that is called asynchronous into memory that is pageable.
#include <cuda_runtime.h>

#include <vector>

struct Model {
  float mean_loss;
  float* accumulated;
};

void train(Model* model, float* x, float* y, float* w, float* losses, cudaStream_t stream, int steps, float* pinned) {
  std::vector<float> seen(64);
  float* rows = (float*)malloc(256);
  for (int step = 0; step < steps; ++step) {
    forward<<<10, 256, 0, stream>>>(x, y, losses);
    backward<<<10, 256, 0, stream>>>(y, x);
    sgd_update<<<10, 256, 0, stream>>>(w, x, 0.1f);
    cudaMemcpyAsync(seen.data(), losses, 256, cudaMemcpyDeviceToHost, stream);  // expect: device-to-host-in-step
    float first = 0.0f;
    cudaMemcpyAsync(&first, losses, 4, cudaMemcpyDeviceToHost, stream);  // expect: device-to-host-in-step
    cudaMemcpyAsync(&model->mean_loss, model->accumulated, 4, cudaMemcpyDeviceToHost, stream);  // expect: device-to-host-in-step
    cudaMemcpyAsync(rows, losses, 256, cudaMemcpyDeviceToHost, stream);  // expect: device-to-host-in-step
    cudaMemcpyAsync(pinned, losses, 256, cudaMemcpyDeviceToHost, stream);
  }
}
