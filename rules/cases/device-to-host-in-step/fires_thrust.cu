// Elements and copies of Thrust's vectors.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <vector>

struct Layer {
  thrust::device_vector<float> weight, output;
  float first_forward(const float* x, int n) {
    forward_kernel<<<n / 256 + 1, 256>>>(x, thrust::raw_pointer_cast(output.data()), n);
    return output[0];  // expect: device-to-host-in-step
  }
};

float sum_forward(const thrust::device_vector<float>& x, thrust::device_vector<float>& sums) {
  scan_kernel<<<32, 256>>>(thrust::raw_pointer_cast(x.data()), thrust::raw_pointer_cast(sums.data()));
  return sums.back();  // expect: device-to-host-in-step
}

void train(Layer& layer, int max_iterations) {
  std::vector<float> shown(1024);
  thrust::device_vector<float> loss(1);
  double total = 0;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    backward_kernel<<<32, 256>>>(thrust::raw_pointer_cast(loss.data()));
    total += loss[0];  // expect: device-to-host-in-step
    thrust::host_vector<float> kept = layer.output;  // expect: device-to-host-in-step
    thrust::copy(layer.output.begin(), layer.output.end(), shown.begin());  // expect: device-to-host-in-step
    thrust::host_vector<float> copied(loss);  // expect: device-to-host-in-step
    report(total, kept, shown, copied);
  }
}
