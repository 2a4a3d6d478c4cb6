// A temporary buffer of each call, whoever calls.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

float trace(const float* a, int n) {
  float result = 0, *device_result;
  CHECK(cudaMalloc(reinterpret_cast<void**>(&device_result), sizeof(float)));  // expect: device-alloc-in-loop
  trace_kernel<<<1, 256>>>(a, n, device_result);
  CHECK(cudaMemcpyAsync(&result, device_result, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_result));  // expect: device-alloc-in-loop
  return result;
}

void scatter_to_gather(const int* counts, int* starts, int n) {
  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, starts, n);
  cudaMalloc(&scratch, bytes);  // expect: device-alloc-in-loop
  cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, starts, n);
  cudaFree(scratch);  // expect: device-alloc-in-loop
}

void grouped_product(const std::vector<float*>& a, int n, cudaStream_t stream) {
  cutlass::DeviceAllocation<float*> pointers;
  pointers.reset(n);  // expect: device-alloc-in-loop
  pointers.copy_from_host(a.data());
  product<<<n, 256, 0, stream>>>(pointers.get(), n);
}
