// Tensors that are made in each step, to be gathered into.
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

torch::Tensor gather_features(c10d::ProcessGroupNCCL& group, torch::Tensor features) {
  std::vector<torch::Tensor> parts;
  for (int r = 0; r < group.getSize(); ++r) {
    parts.push_back(torch::empty_like(features));  // expect: collective-buffer-alloc
  }
  std::vector<std::vector<torch::Tensor>> outputs = {parts};
  std::vector<torch::Tensor> inputs = {features};
  group.allgather(outputs, inputs)->wait();
  return torch::cat(outputs[0]);
}

void train(c10d::ProcessGroupNCCL& group, Encoder& model, Loader& loader, torch::optim::AdamW& optimizer) {
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto features = model->forward(batch.data);
    auto loss = contrast(gather_features(group, features), batch.target);
    loss.backward();
    optimizer.step();
    auto all = torch::empty({group.getSize() * features.size(0)}, features.options());  // expect: collective-buffer-alloc
    group._allgather_base(all, features.argmax(1))->wait();
  }
}

// Parameters are gathered before each layer and dropped behind it.
class ShardedLayer {
 public:
  torch::Tensor forward(torch::Tensor x) {
    auto full = torch::zeros({shard_.numel() * world_}, shard_.options());  // expect: collective-buffer-alloc
    group_->_allgather_base(full, shard_)->wait();
    return torch::linear(x, full.view({-1, x.size(-1)}));
  }

 private:
  torch::Tensor shard_;
  int64_t world_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};
