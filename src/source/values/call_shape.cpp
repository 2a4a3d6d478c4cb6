// What the arguments of a call tell about the value that it gives.
#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// C++: device, torch::kCUDA, x.options(), options; TensorOptions().dtype(torch::kFloat) names
/// none.
bool names_device(std::string_view argument) {
  return contains_any(argument, {"device", "kcuda"}) ||
         (contains_any(argument, {"options"}) && !contains_any(argument, {"tensoroptions()"}));
}

}  // namespace

/// C++: whether an argument names a device. Options that the function makes itself say whether they
/// do; those that it is handed are of a tensor, wherever that is.
bool Inference::may_name_device(NodeId argument) const {
  const std::string_view text = ast_.slice(argument);
  if (ast_[argument].kind != K::name || !contains_any(text, {"opt"})) return names_device(text);
  const NodeId made = definition(function_, text, argument);
  return made != kNoNode ? names_device(ast_.slice(made))
                         : names_device(text) || has_word(text, {"opt", "opts"});
}

CallShape Inference::shape_of(NodeId call) {
  CallShape shape;
  const auto is_zero = [&](NodeId size) {
    return ast_[size].kind == K::number && ast_.slice(size) == "0";
  };
  for (NodeId c : children(ast_, call)) {
    if (ast_[c].role != Role::argument) continue;
    Value v = eval(c);
    if (ast_[c].kind == K::keyword) {
      std::string_view name = ast_[c].text;
      if (name == "device") {
        NodeId value = ast_.child(c, Role::value);
        std::string_view text = value == kNoNode ? std::string_view() : ast_.slice(value);
        shape.device_is_cpu = is_host_device(function_, text);
        shape.has_device = !shape.device_is_cpu && text != "None";
      }
      shape.has_dim |= name == "dim" || name == "keepdim";
      shape.has_dtype |= name == "dtype";
      shape.has_size |= name == "size" || name == "axis";
      shape.encodes |= name == "return_tensors";
      shape.non_blocking |= name == "non_blocking";
      shape.open |= name == "out" && v.kind != Kind::host_tensor;
      if (name == "pin_memory") {
        NodeId value = ast_.child(c, Role::value);
        shape.pinned = value != kNoNode && ast_.slice(value) != "False";
      }
    } else {
      // def zeros(*sizes, **kwargs): return torch.zeros(*sizes, **kwargs).to(device)
      if (ast_[c].kind == K::star && ast_.slice(c).starts_with("**")) {
        shape.open |= ast_.slice(c) != "**kwargs";
        continue;
      }
      if (shape.count++ == 0) shape.first = v;
      shape.holds_nothing |= is_zero(c);
      // torch::zeros({2, 0})
      for (NodeId size = ast_[c].kind == K::list ? ast_[c].first_child : kNoNode;
           ast_.grammar == Grammar::cuda && size != kNoNode; size = ast_[size].next)
        shape.holds_nothing |= is_zero(size);
      if (ast_.grammar == Grammar::cuda) shape.has_device |= may_name_device(c);
    }
    shape.any_device_argument |= v.is_device() || v.kind == Kind::tensor_list;
    shape.any_host_tensor |= v.kind == Kind::host_tensor || v.kind == Kind::host_tensors;
    shape.any_batch |= v.kind == Kind::batch;
    shape.any_unknown |= v.kind == Kind::unknown && ast_[c].kind != K::keyword;
  }
  shape.holds_nothing |= shape.count == 0 && !shape.has_size && !shape.open;
  return shape;
}

}  // namespace stallscope
