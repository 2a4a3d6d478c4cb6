// What methods and attributes of values give.
#include <string>
#include <unordered_set>

#include "source/names/roles.h"
#include "source/values/apis.h"

namespace stallscope {
namespace {

using Set = std::unordered_set<std::string_view>;

const Set kNumberMethods = {
    "size",          "dim",         "numel",          "nelement",    "ndimension",
    "element_size",  "stride",      "data_ptr",       "get_device",  "is_floating_point",
    "is_contiguous", "is_complex",  "storage_offset", "item",        "sizes",
    "is_cuda",       "defined",     "elapsed_time",   "index",       "count",
    "startswith",    "endswith",    "isdigit",        "query",       "requires_grad",
    "has_value",     "scalar_type", "is_leaf",        "is_sparse",   "is_cpu",
    "is_same",       "nbytes",      "itemsize",       "use_count",   "layout",
    "sym_size",      "sym_sizes",   "empty",          "has_storage", "dtype",
    "device",        "options",     "key_set",        "accessor",    "ndim"};
/// What these methods give is of the type of what they are called on: a mask of a mask.
const Set kShapesOnly = {"view",       "unsqueeze", "squeeze", "reshape",   "expand", "flatten",
                         "clone",      "detach",    "to",      "repeat",    "t",      "permute",
                         "contiguous", "expand_as", "view_as", "transpose", "flip",   "roll"};
const Set kTensorOnly = {"backward",
                         "detach",
                         "detach_",
                         "cuda",
                         "requires_grad_",
                         "unsqueeze",
                         "unsqueeze_",
                         "permute",
                         "contiguous",
                         "masked_fill",
                         "masked_fill_",
                         "masked_select",
                         "index_select",
                         "index_add_",
                         "index_copy_",
                         "scatter",
                         "scatter_",
                         "scatter_add_",
                         "scatter_add",
                         "gather",
                         "expand",
                         "expand_as",
                         "view_as",
                         "softmax",
                         "log_softmax",
                         "logsumexp",
                         "sigmoid",
                         "relu",
                         "tanh",
                         "mul_",
                         "add_",
                         "sub_",
                         "div_",
                         "zero_",
                         "fill_",
                         "copy_",
                         "clamp_",
                         "sqrt_",
                         "pow_",
                         "exp_",
                         "abs_",
                         "neg_",
                         "clamp_min",
                         "clamp_max",
                         "addcmul_",
                         "addcdiv_",
                         "lerp_",
                         "lerp",
                         "retain_grad",
                         "register_hook",
                         "new_zeros",
                         "new_ones",
                         "new_full",
                         "new_tensor",
                         "new_empty",
                         "numel",
                         "type_as",
                         "bmm",
                         "matmul",
                         "mm",
                         "chunk",
                         "tril",
                         "triu",
                         "topk",
                         "unbind",
                         "narrow",
                         "repeat_interleave",
                         "log1p",
                         "exp",
                         "expm1",
                         "sqrt",
                         "square",
                         "erf",
                         "log2",
                         "log10",
                         "atan2",
                         "rsqrt",
                         "pin_memory",
                         "is_floating_point",
                         "bfloat16",
                         "element_size",
                         "storage",
                         "share_memory_",
                         "normal_",
                         "uniform_"};
/// Casts that tensors and modules have and NumPy and Python values lack.
const Set kTensorCasts = {"float", "half", "double", "long", "int", "short", "byte", "bool"};

}  // namespace

bool is_tensor_only_method(std::string_view name) {
  return kTensorOnly.contains(name);
}

bool is_tensor_cast(std::string_view name) {
  return kTensorCasts.contains(name);
}

namespace {

/// A tensor by the method that is called on it; where it is, those know who made it.
Value tensor_by(const Value& receiver, std::string_view method) {
  Value out = likely(makes_mask(method) ? Kind::mask : Kind::device_tensor,
                     receiver.flags & kParameterLoop);
  out.dependency = receiver.dependency;
  return out;
}

}  // namespace

std::optional<Value> value_of_method(const Value& receiver, std::string_view name,
                                     const CallShape& call) {
  if (name == "item") return proven(Kind::number);
  if (name == "type_as" && call.first.is_device()) return likely(Kind::device_tensor);
  if (name == "tolist") return proven(Kind::list);
  if (name == "numpy" || name == "asnumpy") return proven(Kind::numpy);
  if (name == "size" && call.count == 0) return proven(Kind::shape);
  // for (auto& p : model->named_parameters()) p.key()
  if ((name == "type" || name == "key") && call.count == 0) return proven(Kind::text);
  if (name == "keys") return likely(Kind::list);
  if (name == "load_state_dict") return likely(Kind::other);
  // grid.query(points) is the program's own, event.query() CUDA's
  if (kNumberMethods.contains(name) && (name != "query" || call.count == 0))
    return proven(Kind::number);
  // graph.num_nodes(), block.number_of_edges(kind): a count. Tensors have no such methods.
  if ((name.starts_with("num_") || name.starts_with("number_of_")) && receiver.kind != Kind::module)
    return likely(Kind::number);
  // is_inference(), is_pinned(): what a tensor is, known without its values.
  if (name.starts_with("is_") && name != "is_nonzero" && receiver.is_device())
    return proven(Kind::number);
  if (name == "cpu") {
    return receiver.kind == Kind::module ? receiver : likely(Kind::host_tensor);
  }
  if (name == "to" || name == "cuda") {
    if (call.device_is_cpu)
      return receiver.kind == Kind::module ? receiver : likely(Kind::host_tensor);
    if (name == "cuda" || call.has_device) {
      if (receiver.kind == Kind::module) return receiver;
      // Wherever it came from, it is there now.
      if (receiver.is_device()) return Value{receiver.kind, receiver.certainty, receiver.flags, 0};
      if (receiver.kind == Kind::host_tensor || receiver.kind == Kind::batch ||
          receiver.kind == Kind::numpy) {
        return likely(Kind::device_tensor);
      }
      return name == "cuda" ? depending_on(receiver.dependency) : receiver;
    }
    return receiver;
  }
  if (name == "parameters" || name == "named_parameters" || name == "buffers") {
    return likely(Kind::parameters);
  }
  if (name == "state_dict") return likely(Kind::other);
  if (receiver.kind == Kind::stream) return proven(Kind::number);
  if (receiver.kind == Kind::text) return likely(Kind::text);
  if (receiver.kind == Kind::other || receiver.kind == Kind::optimizer) return Value{};
  if (receiver.kind == Kind::tensor_dict) {
    if (name == "items" || name == "values") return likely(Kind::tensor_list);
    if (name == "get" || name == "pop") return likely(Kind::device_tensor);
    if (name == "copy") return receiver;
    return name == "keys" ? likely(Kind::list) : std::optional<Value>();
  }
  if (receiver.kind == Kind::batch || receiver.kind == Kind::tensor_list ||
      receiver.kind == Kind::list || receiver.kind == Kind::host_tensors) {
    if (receiver.kind == Kind::tensor_list && (name == "pop" || name == "get"))
      return likely(Kind::device_tensor, receiver.flags & kModuleOutput);
    if (name == "items" || name == "values" || name == "pop" || name == "get" || name == "copy")
      return receiver;
    if (receiver.kind == Kind::batch) return receiver;
    return std::nullopt;
  }
  if (receiver.kind == Kind::host_tensor && name == "pin_memory") return likely(Kind::host_tensor);
  if (receiver.is_device()) {
    if (name == "split" || name == "chunk" || name == "unbind" || name == "topk" ||
        name == "sort") {
      return Value{Kind::tensor_list, receiver.certainty, 0, 0};
    }
    if (is_one_of(name, {"new_zeros", "new_ones", "new_full"}))
      return Value{Kind::device_tensor, receiver.certainty, kFresh, 0};
    if (name == "bool" || makes_mask(name))
      return Value{Kind::mask, receiver.certainty,
                   static_cast<uint8_t>(receiver.flags & kParameterLoop), 0};
    Value out = receiver;
    if (out.kind == Kind::parameter || out.kind == Kind::mask) out.kind = Kind::device_tensor;
    if (receiver.kind == Kind::mask && kShapesOnly.contains(name)) out.kind = Kind::mask;
    out.flags &= static_cast<uint8_t>(kParameterLoop | kJax);
    return out;
  }
  if (receiver.kind == Kind::host_tensor || receiver.kind == Kind::numpy) return receiver;
  // betas.gather(-1, t.cpu()): both are on the same side.
  if (receiver.kind == Kind::unknown && call.any_host_tensor &&
      (name == "gather" || name == "index_select" || name == "take_along_dim"))
    return likely(Kind::host_tensor);
  if (receiver.kind == Kind::number) return likely(Kind::number);
  if (receiver.kind == Kind::unknown &&
      (name == "isnan" || name == "isinf" || name == "isfinite")) {
    return likely(Kind::mask);
  }
  if (receiver.kind == Kind::unknown && (call.has_dim || kTensorCasts.contains(name)) &&
      !receiver.has(kLoaded)) {
    return tensor_by(receiver, name);
  }
  if (receiver.kind == Kind::unknown && !name.starts_with("is_nonzero") &&
      (name.starts_with("is_") || name.starts_with("has_") || name.starts_with("should_"))) {
    return likely(Kind::number);
  }
  if (kTensorOnly.contains(name)) {
    return name == "cuda" ? Value{} : tensor_by(receiver, name);
  }
  return std::nullopt;
}

std::optional<Value> value_of_attribute(const Value& receiver, std::string_view name) {
  if (name == "shape") return proven(Kind::shape);
  if (name == "dtype" || name == "device") return proven(Kind::device);
  if (name == "ndim" || name == "is_cuda" || name == "requires_grad" || name == "itemsize") {
    return proven(Kind::number);
  }
  // state.step, result.energies: what a compiled step gives holds arrays
  if (receiver.kind == Kind::jax_array)
    return is_count_name(name) || name == "size" || name == "nbytes" ? likely(Kind::number)
                                                                     : receiver;
  if (name == "grad" && receiver.kind == Kind::host_tensor) return receiver;
  if (name == "grad") return likely(Kind::device_tensor, kParameterLoop);
  if (name == "logits" || name == "last_hidden_state" || name == "pooler_output" ||
      name == "hidden_states") {
    if (!receiver.is_host()) return likely(Kind::device_tensor);
  }
  // x, weight = ctx.saved_tensors
  if (name == "saved_tensors") return likely(Kind::tensor_list);
  if (receiver.has(kModuleOutput))
    return likely(is_count_name(name) ? Kind::number : Kind::device_tensor);
  if (receiver.is_device() || receiver.kind == Kind::host_tensor || receiver.kind == Kind::numpy) {
    if (name == "data" || name == "T" || name == "mT" || name == "real" || name == "imag" ||
        name == "values" || name == "indices") {
      return receiver;
    }
    // a tree of NumPy's: metrics.loss
    if (receiver.kind == Kind::numpy) return likely(name == "size" ? Kind::number : Kind::numpy);
    return Value{};
  }
  if (receiver.kind == Kind::batch) return receiver;
  return std::nullopt;
}

}  // namespace stallscope
