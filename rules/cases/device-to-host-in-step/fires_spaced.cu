// Launches as some editors write them.
#include <cuda_runtime.h>

void DepthTracker::ComputeGandH(float* host, const float* depth, int n) {
  if (rotationOnly_)
    depth_tracker<true> << <grid, block >> >(device_, depth, n);
  else
    depth_tracker<false> << <grid, block >> > (device_, depth, n);
  check(cudaMemcpy(host, device_, n, cudaMemcpyDeviceToHost));  // expect: device-to-host-in-step
}

void icp_step(float* host, float* device, int n) {
  residuals << < n / 256, 256, 0, stream >>> (device, n);
  cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
}

// Names that stand for those of CUDA and of HIP.
double reduce_sum(const double* values, double* sum, int n) {
  double result = 0;
  gpucub::DeviceReduce::Sum(scratch, bytes, values, sum, n);
  gpuMemcpy(&result, sum, sizeof(result), gpuMemcpyDeviceToHost);  // expect: device-to-host-in-step
  return result;
}
