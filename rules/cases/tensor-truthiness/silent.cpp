#include <torch/torch.h>

void train(Net& model, DataLoader& loader, torch::optim::SGD& optimizer) {
  for (auto& batch : *loader) {
    auto loss = torch::nll_loss(model.forward(batch.data), batch.target);
    if (loss.defined() && loss.dim() == 0) loss.backward();
    if (batch.data.size(0) > 4) optimizer.step();
    auto bad = torch::isnan(loss).any();
    loss = torch::where(bad, torch::zeros_like(loss), loss);
  }
}

torch::Tensor forward_typed(const torch::Tensor& g1) {
  bool type_flag = (g1.dtype() == torch::kDouble) ? true : false;
  if (g1.device() == torch::kCPU) return g1;
  return type_flag ? g1 * 2 : g1;
}

__global__ void rasterize_backward(float* grad, int end) {
  if (warp.any(end > 3)) grad[0] = 0.0f;
  if (total_score - total_score != 0) grad[1] = 0.0f;
}

void mutualInformationBackwardCpu(const torch::Tensor& grad) {
  auto total = grad.sum();
  if (total.item<float>() != 0) return;
}

torch::Tensor attention_forward(const torch::Tensor& q) {
  if (at::globalContext().getROCmFAPreferredBackend() == at::ROCmFABackend::Ck) return q * 2;
  if (at::getNumGPUs() > 1) return q * 3;
  return q;
}

void norm_forward(at::Tensor* y, at::Tensor* x, at::Tensor* gamma, at::Tensor* beta) {
  run(y->data_ptr<float>(), x->data_ptr<float>(), gamma != NULL ? gamma->data_ptr<float>() : NULL,
      beta != nullptr ? beta->data_ptr<float>() : nullptr);

void clamp_weights(Net model, Loader& loader, torch::optim::Adam& optimizer) {
  for (auto& batch : loader) {
    auto loss = model->forward(batch.data);
    optimizer.zero_grad();
    loss.backward();
    for (auto& parameter : model->named_parameters()) {
      if (parameter.key().find("weight") != std::string::npos) {  // its name
        parameter.value().grad().clamp_(-1, 1);
      }
    }
    optimizer.step();
  }

torch::Tensor product_forward(const torch::Tensor& q, const torch::Tensor& workspace) {
  if (workspace.ndim() > 0 && workspace.numel() > 0) return q * 2;
  return q;
}
