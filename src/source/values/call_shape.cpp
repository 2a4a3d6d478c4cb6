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

/// `opts` that the function is handed: those of a tensor, wherever it is. What it makes itself
/// says whether it names a device.
bool Inference::is_given_options(NodeId argument) const {
  if (ast_[argument].kind != K::name || !has_word(ast_[argument].text, {"opt", "opts"}))
    return false;
  const NodeId made = definition(function_, ast_[argument].text, argument);
  return made == kNoNode || names_device(ast_.slice(made));
}

CallShape Inference::shape_of(NodeId call) {
  CallShape shape;
  for (NodeId c : children(ast_, call)) {
    if (ast_[c].role != Role::argument) continue;
    Value v = eval(c);
    if (ast_[c].kind == K::keyword) {
      std::string_view name = ast_[c].text;
      if (name == "device") {
        NodeId value = ast_.child(c, Role::value);
        std::string_view text = value == kNoNode ? std::string_view() : ast_.slice(value);
        shape.device_is_cpu = text == "'cpu'" || text == "\"cpu\"" ||
                              text == "torch.device('cpu')" || text == "torch.device(\"cpu\")";
        shape.has_device = !shape.device_is_cpu && text != "None";
      }
      shape.has_dim |= name == "dim" || name == "keepdim";
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
      shape.holds_nothing |= ast_[c].kind == K::number && ast_.slice(c) == "0";
      if (ast_.grammar == Grammar::cuda)
        shape.has_device |= names_device(ast_.slice(c)) || is_given_options(c);
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
