// Thrust's vectors, filled on the device or once.
#include <thrust/device_vector.h>
#include <vector>

void train(const std::vector<float>& images, int max_iterations) {
  thrust::device_vector<float> input(1024), target(1024), all = images;
  std::vector<float> batch(1024), next(1024);
  thrust::copy(images.begin(), images.end(), input.begin());
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    target = input;
    batch = next;
    step_kernel<<<4, 256>>>(thrust::raw_pointer_cast(target.data()));
  }
}
