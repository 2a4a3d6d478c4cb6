// Inference over subscripts: elements, slices and masks of what is known.
#include <algorithm>

#include "source/names/roles.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// x[None, :], x[..., None]: another view of everything.
bool takes_all(const Ast& ast, NodeId id) {
  for (NodeId c : children(ast, id)) {
    if (ast[c].role == Role::object) continue;
    const std::string_view text = ast.slice(c);
    if (ast[c].kind == K::tuple ? !takes_all(ast, c)
                                : text != "None" && text != ":" && text != "...")
      return false;
  }
  return true;
}

/// x[x != 0]
bool asks_itself(const Ast& ast, NodeId subscript, NodeId index) {
  const NodeId object = ast.child(subscript, Role::object);
  return ast[index].kind == K::compare && object != kNoNode && !is_identity_test(ast[index].text) &&
         ast.slice(ast[index].first_child) == ast.slice(object);
}

}  // namespace

/// valid = target != 255: whether what selects by a name compares.
bool Inference::is_comparison(std::string_view name, NodeId before) const {
  const NodeId made = definition(function_, name, before);
  return made != kNoNode && ast_[made].kind == K::compare && !is_identity_test(ast_[made].text);
}

/// Whether PyTorch is given the variable, or its own methods are called on it, in this function.
bool Inference::is_torchs(NodeId id) const {
  if (id == kNoNode || ast_[id].kind != K::name) return false;
  const Scope& own = scopes_[function_];
  return own.given_as_tensor.contains(ast_[id].text) || own.used_as_tensor.contains(ast_[id].text);
}

/// x[mask], x[~padding], x[batch.train_mask]: whether what an index is called, or how it was made,
/// says that it selects.
bool Inference::selects_by_name(NodeId index, const Value& container, NodeId subscript) const {
  const Node& node = ast_[index];
  if (node.kind == K::unary) return node.text == "~";
  if (node.kind == K::attribute) return is_mask_name(node.text);
  return node.kind == K::name && (is_mask_name(node.text) ||
                                  (container.is_device() && is_comparison(node.text, subscript)));
}

Value Inference::eval_subscript(NodeId id) {
  Value container;
  bool text_key = false;
  for (NodeId c : children(ast_, id)) {
    Value v = eval(c);
    if (ast_[c].role == Role::object) {
      container = v;
    } else {
      text_key |= v.kind == Kind::text;
      // result[mask], x[x != 0]: where no array is meant, its name or what it asks says what it is.
      if ((v.kind == Kind::unknown || v.kind == Kind::device_tensor) && names_.uses("torch") &&
          (!scopes_[function_].uses_numpy || is_torchs(c) ||
           is_torchs(ast_.child(id, Role::object))) &&
          (selects_by_name(c, container, id) ||
           (container.kind == Kind::unknown && asks_itself(ast_, id, c))))
        values_[c] = likely(Kind::mask);
    }
  }
  // dataset[i]: what the host has read.
  const NodeId object = ast_.child(id, Role::object);
  if ((container.kind == Kind::unknown || container.kind == Kind::other) && !text_key &&
      object != kNoNode && is_dataset_name(last_component(ast_.slice(object))))
    return likely(Kind::host_tensor);
  if (container.kind == Kind::mask || container.kind == Kind::device_tensor) {
    if (text_key) return likely(Kind::device_tensor, kModuleOutput);
    Value out = container;
    out.certainty = std::min(out.certainty, Certainty::likely);
    return out;
  }
  if (container.kind == Kind::parameter) return likely(Kind::device_tensor, container.flags);
  if (container.kind == Kind::host_tensor) {
    // A part of a tensor that was just made: making it on the device is not the point any more.
    return likely(Kind::host_tensor,
                  takes_all(ast_, id) ? container.flags : container.flags & kAttribute);
  }
  if (container.kind == Kind::host_tensors) return element_value(container);
  if (container.kind == Kind::tensor_list || container.kind == Kind::batch ||
      container.kind == Kind::jax_array || container.kind == Kind::numpy ||
      container.kind == Kind::shape) {
    return element_value(container);
  }
  Value out;
  out.flags = container.flags & kLoaded;
  return out;
}

}  // namespace stallscope
