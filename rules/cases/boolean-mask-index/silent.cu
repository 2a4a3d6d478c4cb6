#include <torch/extension.h>

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

torch::Tensor select_forward(torch::Tensor points, torch::Tensor limits, torch::Tensor ids) {
  scale<<<64, 256>>>(points.data_ptr<float>(), points.numel());
  auto inside = (points < limits).to(points.scalar_type());
  auto kept = points * inside;
  auto chosen = points.index({ids});  // by numbers
  auto first = points.index({torch::indexing::Slice(0, 3)});
  auto far = torch::norm(points, 2, 1) > 1;
  return kept.sum() + chosen.sum() + first.sum() + torch::where(far, points.sum(1), 0).sum();
}

torch::Tensor prune_backward(torch::Tensor grad, torch::Tensor values) {
  scale<<<64, 256>>>(grad.data_ptr<float>(), grad.numel());
  auto small = values.abs() < 1e-3;
  return grad.masked_fill(small, 0);
}

torch::Tensor threshold_forward(torch::Tensor scores, torch::Tensor order) {
  scale<<<64, 256>>>(scores.data_ptr<float>(), scores.numel());
  auto high = torch::sigmoid(scores) > 0.5;
  return scores.index({order, 0}) * high.to(torch::kFloat);
}
