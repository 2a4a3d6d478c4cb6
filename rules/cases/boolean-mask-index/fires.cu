#include <torch/extension.h>

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

torch::Tensor select_forward(torch::Tensor points, torch::Tensor limits) {
  scale<<<64, 256>>>(points.data_ptr<float>(), points.numel());
  auto inside = points < limits;
  auto kept = points.index({inside});  // expect: boolean-mask-index
  points.index_put_({inside}, points.index({inside}) * 2);  // expect: boolean-mask-index
  auto far = torch::norm(points, 2, 1) > 1;
  return kept.sum() + points.index({far}).sum();  // expect: boolean-mask-index
}

torch::Tensor prune_backward(torch::Tensor grad, torch::Tensor values) {
  scale<<<64, 256>>>(grad.data_ptr<float>(), grad.numel());
  auto small = values.abs() < 1e-3;
  return grad.index({small});  // expect: boolean-mask-index
}

torch::Tensor threshold_forward(torch::Tensor scores) {
  scale<<<64, 256>>>(scores.data_ptr<float>(), scores.numel());
  auto high = torch::sigmoid(scores) > 0.5;
  return scores.index({high, 0});  // expect: boolean-mask-index
}
