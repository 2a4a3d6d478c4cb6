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
