// Operators that keep the best few of what they sort.
#include <torch/extension.h>

torch::Tensor nms_forward(const torch::Tensor& boxes, const torch::Tensor& scores, int64_t most) {
  auto order = std::get<1>(scores.sort(0, /*descending=*/true)).slice(0, 0, most);  // expect: sort-for-topk
  auto kept = torch::zeros({most}, boxes.options().dtype(torch::kBool));
  nms_kernel<<<blocks(most), 256>>>(boxes.data_ptr<float>(), order.data_ptr<int64_t>(), kept.data_ptr<bool>(), most);
  return order.masked_select(kept);
}

std::vector<torch::Tensor> route_forward(torch::Tensor logits, int64_t experts) {
  auto gates = torch::softmax(logits, -1);
  auto [sorted, indices] = torch::sort(gates, -1, true);  // expect: sort-for-topk
  auto weights = sorted.narrow(-1, 0, experts);
  auto chosen = indices.narrow(-1, 0, experts);
  dispatch_kernel<<<64, 256>>>(chosen.data_ptr<int64_t>(), weights.data_ptr<float>());
  return {weights, chosen};
}

torch::Tensor hard_examples_forward(torch::Tensor losses, double share) {
  const auto keep = static_cast<int64_t>(losses.numel() * share);
  auto worst = torch::argsort(losses, 0, true);  // expect: sort-for-topk
  return losses.index_select(0, worst.slice(0, 0, keep)).mean();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("nms_forward", &nms_forward);
  m.def("route_forward", &route_forward);
  m.def("hard_examples_forward", &hard_examples_forward);
}
