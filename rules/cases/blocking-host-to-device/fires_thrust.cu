// Thrust's vectors, filled from the host.
#include <thrust/device_vector.h>
#include <vector>

void train(const std::vector<float>& images, int max_iterations) {
  thrust::device_vector<float> input(1024), target(1024);
  std::vector<float> batch(1024);
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    thrust::copy(images.begin(), images.end(), input.begin());  // expect: blocking-host-to-device
    target = batch;  // expect: blocking-host-to-device
    step_kernel<<<4, 256>>>(thrust::raw_pointer_cast(input.data()));
  }
}

struct Model {
  thrust::device_vector<int> inputs;
};

void train_tokens(Model& model, const int* tokens, int steps, int n) {
  for (int step = 0; step < steps; ++step) {
    thrust::copy_n(tokens, n, model.inputs.begin());  // expect: blocking-host-to-device
    model_forward(model);
    model_backward(model);
    model_update(model, step);
  }
}

int main() {
  Model model;
  train_tokens(model, read_tokens(), 100, 4096);
}
