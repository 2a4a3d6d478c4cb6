// What stays on the device, or was on the host before.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <vector>

__global__ void scale(float* x, const thrust::device_vector<float>* table, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

void copy_forward(thrust::device_vector<float>& from, thrust::device_vector<float>& to) {
  scale<<<32, 256>>>(thrust::raw_pointer_cast(&from[0]), nullptr, 1024);
  thrust::copy(from.begin(), from.end(), to.begin());
  to = from;
}

void pick_forward(std::vector<thrust::device_vector<float>>& buffers, int which) {
  scale<<<32, 256>>>(thrust::raw_pointer_cast(buffers[which].data()), nullptr, 1024);
  thrust::device_vector<float>* chosen = &buffers[which];
  use(chosen[0]);
}

void train(int max_iterations) {
  std::vector<float> rates(1024);
  thrust::host_vector<float> tables(1024);
  thrust::device_vector<float> weight(1024);
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    scale<<<32, 256>>>(thrust::raw_pointer_cast(weight.data()), nullptr, 1024);
    const float rate = rates[iteration] * tables[iteration] + rates.back();
    thrust::host_vector<float> again(tables);
    thrust::device_vector<float> more(weight);
    update(weight, rate, again, more);
    if (iteration % 100 == 0) show(weight[0]);
  }
}
