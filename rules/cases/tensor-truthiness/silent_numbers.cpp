#include <torch/torch.h>

// A declared number is one, whatever it was computed from; so is what a type is asked.
torch::Tensor rasterize_backward(torch::Tensor features, torch::Tensor offsets, uint32_t tiles) {
  const uint32_t blocks = features.size(0) * tiles;
  if (blocks > 0) features = torch::relu(features);
  auto counts = offsets.accessor<int64_t, 1>();
  const int64_t samples = counts[1] - counts[0];
  if (samples == 0) return features;
  if (at::isFloatingType(features.scalar_type())) return features * 2;
  return features;
}
