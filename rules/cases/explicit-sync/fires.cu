#include <cuda_runtime.h>

void train(float* weights, cudaStream_t stream, int steps) {
  for (int step = 0; step < steps; ++step) {
    forward_kernel<<<32, 256, 0, stream>>>(weights);
    CHECK(cudaDeviceSynchronize());  // expect: explicit-sync
    update_kernel<<<32, 256, 0, stream>>>(weights);
    cudaStreamSynchronize(stream);  // expect: explicit-sync
  }
}

void gpt2_zero_grad(Model* model) {
  cudaMemset(model->grads, 0, 1024);
  cudaCheck(cudaDeviceSynchronize());  // expect: explicit-sync
}

void gpt2_backward(Model* model, int micro_step) {
  if (micro_step == 0) {
    gpt2_zero_grad(model);
  }
}

int main() {
  train(nullptr, 0, 10);
  for (int step = 0; step < 10; step++) {
    for (int micro_step = 0; micro_step < 4; micro_step++) {
      gpt2_backward(&model, micro_step);
    }
    gpt2_update(&model);
  }
  drain_streams(streams);
}

void train_guarded(Net& net, Optimizer& optimizer, int steps) {
  for (int step = 0; step < steps; ++step) {
    net.backward();
    optimizer.step();
#ifdef USE_CUDA
    cudaDeviceSynchronize();  // expect: explicit-sync
#endif
#ifdef DEBUG
    check();
#else
    cudaDeviceSynchronize();  // expect: explicit-sync
#endif
  }
}

void drain_streams(std::vector<cudaStream_t>& streams) {
  for (size_t i = 0; i < streams.size(); ++i) {
    cudaStreamSynchronize(streams[i]);  // expect: explicit-sync
    launch_next(streams[i]);
  }
}

void clear(float* values, int n, bool wait = false) {
  fill<<<n, 256>>>(values);
  if (wait) cudaDeviceSynchronize();
}

void train_cleared(float* values, int steps) {
  for (int step = 0; step < steps; ++step) {
    clear(values, 8);
    clear(values, 4, step > 2);  // expect: explicit-sync
    update<<<8, 256>>>(values);
  }
}
