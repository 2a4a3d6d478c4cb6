#include <torch/torch.h>

// What other code gives is called a mask, or is turned into one.
class BoxLossImpl : public torch::nn::Module {
 public:
  torch::Tensor forward(torch::Tensor boxes, torch::Tensor targets, torch::Tensor scores, torch::Tensor fg_mask) {
    auto weight = scores.sum(-1).index({fg_mask});                                // expect: boolean-mask-index
    auto near = (boxes - targets).index({fg_mask, torch::indexing::Slice(0, 2)});  // expect: boolean-mask-index
    auto missed = scores.index({~fg_mask}).sum();                                 // expect: boolean-mask-index
    return (near.abs().sum(-1) * weight).sum() + missed;
  }
};
TORCH_MODULE(BoxLoss);

class AssignerImpl : public torch::nn::Module {
 public:
  torch::Tensor forward(torch::Tensor overlaps, torch::Tensor boxes, torch::Tensor given) {
    given = given.to(torch::kBool);
    auto out = torch::zeros_like(overlaps);
    out.index_put_({given}, overlaps.index({given}));  // expect: boolean-mask-index
    torch::Tensor obj_mask, best;
    std::tie(obj_mask, best) = assign(overlaps);
    return out.sum() + boxes.index(obj_mask).mean();   // expect: boolean-mask-index
  }
  std::tuple<torch::Tensor, torch::Tensor> assign(torch::Tensor overlaps);
};
TORCH_MODULE(Assigner);
