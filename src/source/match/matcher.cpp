#include "source/match/matcher.h"

#include <algorithm>

namespace stallscope {

const std::vector<Matcher>& matchers() {
  static const std::vector<Matcher> all = {
      {"tensor-condition",
       "a tensor decides an if, while, assert, and/or or conditional expression",
       find_tensor_conditions},
      {"formatted-tensor", "a tensor is printed, formatted or handed to a progress bar",
       find_formatted_tensors},
      {"tensor-slice-bound", "a slice, a range or a size takes its bounds from a device tensor",
       find_tensor_slice_bounds},
      {"sort-then-take", "a sorted result is only used for its first or k-th elements",
       find_sort_then_take},
      {"manual-attention", "softmax of q @ k^T, times v", find_manual_attention},
      {"gather-per-metric", "two or more collectives of one function, each read on the host",
       find_gathers_per_metric},
      {"eval-with-grad", "an evaluation loop runs the model without no_grad", find_eval_with_grad},
      {"bias-before-norm", "a convolution with bias is followed by batch norm",
       find_bias_before_norm},
      {"accumulation-without-no-sync", "DDP gradients are reduced in every micro-step",
       find_accumulation_without_no_sync},
      {"undonated-step", "a training step is compiled and donates nothing", find_undonated_steps},
  };
  return all;
}

const Matcher* matcher_of(std::string_view name) {
  auto found = std::ranges::find(matchers(), name, &Matcher::name);
  return found == matchers().end() ? nullptr : &*found;
}

}  // namespace stallscope
