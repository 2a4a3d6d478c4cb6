#include "analyze/operator_groups.h"

#include <algorithm>
#include <string>

namespace stallscope {
namespace {

struct Words {
  OperatorGroup group;
  std::string_view word;
};

// Parts of names that PyTorch, JAX, cuBLAS, cuDNN, CUTLASS, oneDNN and this project use, in lower
// case. The first that occurs decides, so the special ones come before the general.
constexpr Words kWords[] = {
    {OperatorGroup::optimizer, "adam"},
    {OperatorGroup::optimizer, "multi_tensor_apply"},
    {OperatorGroup::optimizer, "multitensorapply"},
    {OperatorGroup::optimizer, "optimizer"},
    {OperatorGroup::optimizer, "_foreach_"},
    {OperatorGroup::attention, "attention"},
    {OperatorGroup::attention, "flash"},
    {OperatorGroup::attention, "fmha"},
    {OperatorGroup::attention, "sdpa"},
    {OperatorGroup::loss, "cross_entropy"},
    {OperatorGroup::loss, "crossentropy"},
    {OperatorGroup::loss, "nll_loss"},
    {OperatorGroup::loss, "log_softmax"},
    {OperatorGroup::loss, "logsoftmax"},
    {OperatorGroup::loss, "mse_loss"},
    {OperatorGroup::loss, "softmax_partial"},
    {OperatorGroup::loss, "row_max"},
    {OperatorGroup::attention, "softmax"},
    {OperatorGroup::embedding, "embedding"},
    {OperatorGroup::embedding, "indexselect"},
    {OperatorGroup::embedding, "gather_rows"},
    {OperatorGroup::embedding, "scatter_rows"},
    {OperatorGroup::product, "gemm"},
    {OperatorGroup::product, "gemv"},
    {OperatorGroup::product, "matmul"},
    {OperatorGroup::product, "addmm"},
    {OperatorGroup::product, "aten::mm"},
    {OperatorGroup::product, "aten::bmm"},
    {OperatorGroup::product, "linear"},
    {OperatorGroup::product, "cutlass"},
    {OperatorGroup::product, "cublas"},
    {OperatorGroup::product, "pack_weights"},
    {OperatorGroup::product, "convert_bf16"},
    {OperatorGroup::norm, "norm"},
    {OperatorGroup::norm, "gelu"},
    {OperatorGroup::norm, "elementwise"},
    {OperatorGroup::norm, "element_wise"},
    {OperatorGroup::norm, "dropout"},
    {OperatorGroup::norm, "residual"},
    {OperatorGroup::norm, "column_sum"},
    {OperatorGroup::norm, "reduce"},
    {OperatorGroup::norm, "add_kernel"},
    {OperatorGroup::norm, "triton_"},
    {OperatorGroup::norm, "fusion"},
};

}  // namespace

std::string_view to_string(OperatorGroup group) {
  constexpr std::string_view kNames[kOperatorGroups] = {
      "matrix products", "attention", "norm and activation", "loss", "optimizer",
      "embedding",       "unmatched"};
  return kNames[static_cast<size_t>(group)];
}

OperatorGroup operator_group(std::string_view kernel, std::string_view op) {
  // A kernel's own name says more than its operator's: a fused operator launches many kinds.
  for (const std::string_view name : {kernel, op}) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    for (const Words& it : kWords)
      if (lower.find(it.word) != std::string::npos) return it.group;
  }
  return OperatorGroup::unmatched;
}

}  // namespace stallscope
