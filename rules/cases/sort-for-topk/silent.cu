// Sorts of which everything is wanted.
#include <thrust/device_ptr.h>
#include <thrust/sort.h>
#include <torch/extension.h>

// Each box is compared with those before it.
torch::Tensor nms_forward(const torch::Tensor& boxes, const torch::Tensor& scores) {
  auto order = std::get<1>(scores.sort(0, /*descending=*/true));
  auto kept = torch::zeros({boxes.size(0)}, boxes.options().dtype(torch::kBool));
  nms_kernel<<<64, 256>>>(boxes.data_ptr<float>(), order.data_ptr<int64_t>(), kept.data_ptr<bool>(), boxes.size(0));
  return order.masked_select(kept);
}

// Splats lie in the order of their tiles.
void bin_forward(uint64_t* keys, int* values, int n) {
  thrust::device_ptr<uint64_t> first(keys);
  thrust::sort_by_key(first, first + n, thrust::device_ptr<int>(values));
  range_kernel<<<64, 256>>>(keys, n);
}

// The sum over what came before is of all.
torch::Tensor nucleus_forward(torch::Tensor logits, double share) {
  auto [sorted, indices] = torch::sort(torch::softmax(logits, -1), -1, true);
  auto dropped = torch::cumsum(sorted, -1) - sorted > share;
  return logits.masked_fill(dropped.scatter(-1, indices, dropped), -1e9);
}

torch::Tensor route_forward(torch::Tensor logits, int64_t experts) {
  auto [weights, chosen] = torch::topk(logits, experts, -1, true, /*sorted=*/false);
  dispatch_kernel<<<64, 256>>>(chosen.data_ptr<int64_t>(), weights.data_ptr<float>());
  return weights;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("nms_forward", &nms_forward);
  m.def("nucleus_forward", &nucleus_forward);
  m.def("route_forward", &route_forward);
}
