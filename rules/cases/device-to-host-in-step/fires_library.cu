// Numbers that libraries and the program's own functions bring to the host.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <thrust/reduce.h>

float norm(cublasHandle_t handle, const float* x, int n) {
  float out;
  scale_kernel<<<32, 256>>>(x, n);
  cublasSnrm2(handle, n, x, 1, &out);  // expect: device-to-host-in-step
  return out;
}

void Splitter::find(const int* lengths, int n) {
  key_kernel<<<n, 256>>>(lengths);
  const int longest = *thrust::max_element(thrust::device, lengths, lengths + n);  // expect: device-to-host-in-step
  const int total = thrust::reduce(thrust::device, lengths, lengths + n);  // expect: device-to-host-in-step
  split_kernel<<<total, longest>>>(lengths);
}

void cuda_pull_array(float* x_gpu, float* x, size_t n) {
  cudaError_t status = cudaMemcpy(x, x_gpu, n * sizeof(float), cudaMemcpyDeviceToHost);
  check_error(status);
}

void forward_cost_layer_gpu(Layer l, State state) {
  smooth_l1_gpu(l.batch * l.inputs, state.input, state.truth, l.delta_gpu, l.output_gpu);
  smooth_l1_kernel<<<64, 256>>>(l.output_gpu);
  cuda_pull_array(l.output_gpu, l.output, l.batch * l.inputs);  // expect: device-to-host-in-step
  l.cost[0] = sum_array(l.output, l.batch * l.inputs);
}

// A macro puts the type of the numbers into the library's names.
void correct(const Work* w, float* b, int n) {
  CUBLAS(axpy)(w->handle, n, &w->one, w->r, 1, w->p, 1);
  cudaMemcpy(b, w->p, n * sizeof(float), cudaMemcpyDeviceToHost);  // expect: device-to-host-in-step
}

struct Array {
  float item() const {
    float value;
    check(cudaMemcpy(&value, data, sizeof(float), cudaMemcpyDefault));
    return value;
  }
  float* data;
};

float train_epoch(Net& net, Array& loss, float* host, int batches) {
  float total = 0.0f;
  for (int b = 0; b < batches; ++b) {
    net.forward();
    net.backward();
    net.update(0.01f);
    total += loss.item();  // expect: device-to-host-in-step
    cublasGetVector(10, sizeof(float), loss.data, 1, host, 1);  // expect: device-to-host-in-step
  }
  return total;
}
