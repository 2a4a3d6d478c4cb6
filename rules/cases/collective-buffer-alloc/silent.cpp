// Tensors that are kept, or that no collective writes to.
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

class FeatureQueue {
 public:
  FeatureQueue(int64_t rows, int64_t width, int64_t world)
      : all_(torch::empty({rows * world, width}, torch::kCUDA)) {}

  // Written to in each step.
  torch::Tensor gather(torch::Tensor features) {
    group_->_allgather_base(all_, features)->wait();
    return all_;
  }

 private:
  torch::Tensor all_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

// Made when it is first wanted.
torch::Tensor ShardedLayerImpl::forward(torch::Tensor x) {
  if (!full_.defined()) full_ = torch::empty({shard_.numel() * world_}, shard_.options());
  group_->_allgather_base(full_, shard_)->wait();
  return torch::linear(x, full_.view({-1, x.size(-1)}));
}

void fit(FeatureQueue& queue, Encoder& model, Loader& loader, torch::optim::AdamW& optimizer) {
  for (auto& batch : *loader) {
    auto noise = torch::empty_like(batch.data).normal_();
    auto loss = contrast(queue.gather(model->forward(batch.data + noise)), batch.target);
    loss.backward();
    optimizer.step();
  }
}

// All metrics of an epoch, once.
torch::Tensor summarise(c10d::ProcessGroupNCCL& group, torch::Tensor sums) {
  auto all = torch::empty({group.getSize(), sums.size(0)}, sums.options());
  group._allgather_base(all, sums)->wait();
  return all.mean(0);
}
