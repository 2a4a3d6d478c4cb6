#include "analyze/host_costs.h"

namespace stallscope {
namespace {

/// A frame is a sign of a cost when its file has this part and its function this name.
struct Sign {
  HostCost cost;
  std::string_view file;      // part of the path
  std::string_view function;  // whole unqualified name; empty = any of the file
};

constexpr Sign kSigns[] = {
    {HostCost::compilation, "jax/_src/compiler.py", ""},
    {HostCost::compilation, "jax/_src/interpreters/partial_eval.py", ""},
    {HostCost::compilation, "jax/_src/interpreters/mlir.py", ""},
    {HostCost::compilation, "jax/_src/pjit.py", "_infer_params"},
    {HostCost::compilation, "jax/_src/pjit.py", "_create_pjit_jaxpr"},
    {HostCost::compilation, "jax/_src/pjit.py", "_pjit_lower"},
    {HostCost::compilation, "torch/_dynamo/convert_frame.py", ""},
    {HostCost::compilation, "torch/_dynamo/symbolic_convert.py", ""},
    {HostCost::compilation, "torch/_inductor/compile_fx.py", ""},
    {HostCost::compilation, "torch/_functorch/aot_autograd.py", ""},
    {HostCost::compilation, "torch/jit/_trace.py", ""},
    {HostCost::compilation, "triton/compiler/", ""},
    {HostCost::checkpoint, "torch/serialization.py", ""},
    {HostCost::checkpoint, "torch/distributed/checkpoint/", ""},
    {HostCost::checkpoint, "safetensors/", ""},
    {HostCost::checkpoint, "orbax/", ""},
    {HostCost::checkpoint, "flax/serialization.py", ""},
    {HostCost::checkpoint, "flax/training/checkpoints.py", ""},
    {HostCost::checkpoint, "equinox/_serialisation.py", ""},
    {HostCost::checkpoint, "", "save_checkpoint"},
    {HostCost::logging, "logging/__init__.py", ""},
    {HostCost::logging, "torch/utils/tensorboard/", ""},
    {HostCost::logging, "tensorboard/", ""},
    {HostCost::logging, "tensorboardX/", ""},
    {HostCost::logging, "wandb/", ""},
    {HostCost::logging, "mlflow/", ""},
    {HostCost::logging, "tqdm/", ""},
    {HostCost::collation, "torch/utils/data/_utils/collate.py", ""},
    {HostCost::collation, "", "collate"},
    {HostCost::collation, "", "collate_fn"},
    {HostCost::tokenising, "tokenizers/", ""},
    {HostCost::tokenising, "transformers/tokenization_", ""},
    {HostCost::tokenising, "", "tokenize"},
    {HostCost::tree_at, "equinox/_tree.py", "tree_at"},
    {HostCost::filter_jit, "equinox/_jit.py", ""},
    {HostCost::pytree, "jax/_src/tree_util.py", ""},
    {HostCost::pytree, "torch/utils/_pytree.py", ""},
    {HostCost::pytree, "optree/", ""},
    {HostCost::pytree, "equinox/_tree.py", ""},
    {HostCost::pytree, "equinox/_filters.py", ""},
    {HostCost::pytree, "equinox/_module/", "__flatten__"},
    {HostCost::loader_wait, "torch/utils/data/dataloader.py", "__next__"},
    {HostCost::loader_wait, "torch/utils/data/dataloader.py", "_next_data"},
};

// "Träiner.step" -> "step".
std::string_view unqualified(std::string_view function) {
  const size_t dot = function.rfind('.');
  return dot == std::string_view::npos ? function : function.substr(dot + 1);
}

}  // namespace

std::string_view to_string(HostCost cost) {
  switch (cost) {
    case HostCost::garbage_collection:
      return "garbage collection";
    case HostCost::compilation:
      return "tracing and compilation";
    case HostCost::checkpoint:
      return "checkpointing";
    case HostCost::logging:
      return "logging";
    case HostCost::collation:
      return "collation";
    case HostCost::tokenising:
      return "tokenising";
    case HostCost::tree_at:
      return "tree_at";
    case HostCost::filter_jit:
      return "filter_jit wrapper";
    case HostCost::pytree:
      return "pytree flatten and unflatten";
    case HostCost::loader_wait:
      return "DataLoader wait";
  }
  return {};
}

uint32_t host_costs_of(std::string_view file, std::string_view function) {
  uint32_t costs = 0;
  for (const Sign& sign : kSigns)
    if (file.find(sign.file) != std::string_view::npos &&
        (sign.function.empty() || unqualified(function) == sign.function))
      costs |= 1U << static_cast<int>(sign.cost);
  return costs;
}

}  // namespace stallscope
