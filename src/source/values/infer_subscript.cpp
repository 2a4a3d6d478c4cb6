// Inference over subscripts: elements, slices and masks of what is known.
#include <algorithm>

#include "source/names/roles.h"
#include "source/syntax/words.h"
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

/// The comparison that (a == b).squeeze(-1), ~(a == b) and (a > b) & (a < c) are made of, or
/// kNoNode.
NodeId Inference::compared(NodeId id, unsigned hops) const {
  if (id == kNoNode || hops == 0) return kNoNode;
  const Node& node = ast_[id];
  if (node.kind == K::compare) return is_identity_test(node.text) ? kNoNode : id;
  if (node.kind == K::call) {
    const NodeId callee = ast_.child(id, Role::callee);
    const bool reshapes =
        is_one_of(callee_name(ast_, id),
                  {"squeeze", "unsqueeze", "view", "reshape", "flatten", "expand", "bool"});
    return reshapes && ast_[callee].kind == K::attribute
               ? compared(ast_.child(callee, Role::object), hops - 1)
               : kNoNode;
  }
  const bool combines = (node.kind == K::unary && node.text == "~") ||
                        (node.kind == K::binary && is_one_of(node.text, {"&", "|", "^"}));
  return combines ? compared(node.first_child, hops - 1) : kNoNode;
}

/// valid = target != 255, kept = ~padding: whether what selects by a name compares, or is the
/// reverse of a mask.
bool Inference::is_comparison(std::string_view name, NodeId before) const {
  const NodeId made = definition(function_, name, before);
  return compared(made) != kNoNode || is_reversed(made);
}

/// ~padding: of numbers nobody takes elements by it.
bool Inference::is_reversed(NodeId id) const {
  return id != kNoNode && ast_[id].kind == K::unary && ast_[id].text == "~";
}

/// Whether PyTorch is given the variable, or its own methods are called on it, in this function.
bool Inference::is_torchs(NodeId id) const {
  if (id == kNoNode || ast_[id].kind != K::name) return false;
  const Scope& own = scopes_[function_];
  return own.given_as_tensor.contains(ast_[id].text) || own.used_as_tensor.contains(ast_[id].text);
}

/// same = labels == 3 where PyTorch is given labels, = labels == labels[i], = x > 0 before x[same]:
/// what selects by it selects elements.
bool Inference::asks_elements(NodeId name, NodeId object) const {
  const NodeId asked = compared(definition(function_, ast_[name].text, name));
  if (asked == kNoNode) return false;
  const NodeId left = ast_[asked].first_child, right = ast_[left].next;
  const NodeId whole = right != kNoNode && ast_[right].kind == K::subscript
                           ? ast_.child(right, Role::object)
                           : object;
  // loops = edges[0] == edges[1] before edges[:, loops]
  const NodeId part = ast_[left].kind == K::subscript ? ast_.child(left, Role::object) : left;
  return is_torchs(left) || (whole != kNoNode && ast_.slice(left) == ast_.slice(whole)) ||
         (object != kNoNode && ast_.slice(part) == ast_.slice(object));
}

/// edges[:, sources < targets], scores[labels.view(-1) == k]: what compares in brackets is asked of
/// each element; (low, high)[i > 0] takes one of two, frame[frame.age > 3] is no tensor.
bool Inference::asks_in_brackets(NodeId index) const {
  const NodeId asked = compared(index);
  if (asked == kNoNode || names_.uses("pandas")) return false;
  const NodeId left = ast_[asked].first_child;
  return ast_[left].kind != K::name || !is_counter_name(ast_[left].text);
}

/// mask, batch.train_mask, batch["mask"], valid[0], mask.view(-1): whether it is called a mask, or
/// is a part or another shape of what is.
bool Inference::is_called_mask(NodeId id, unsigned hops) const {
  if (id == kNoNode || hops == 0) return false;
  const Node& node = ast_[id];
  if (node.kind == K::name || node.kind == K::attribute) return is_mask_name(node.text);
  if (node.kind == K::subscript) {
    const NodeId key = ast_.child(id, Role::index);
    if (key == kNoNode || ast_[key].kind != K::string)
      return is_called_mask(ast_.child(id, Role::object), hops - 1);
    const std::string_view quoted = ast_.slice(key);
    return quoted.size() > 2 && is_mask_name(quoted.substr(1, quoted.size() - 2));
  }
  const NodeId callee = node.kind == K::call ? ast_.child(id, Role::callee) : kNoNode;
  return callee != kNoNode && ast_[callee].kind == K::attribute &&
         is_one_of(ast_[callee].text, {"view", "reshape", "flatten", "squeeze", "unsqueeze",
                                       "expand", "expand_as", "contiguous"}) &&
         is_called_mask(ast_.child(callee, Role::object), hops - 1);
}

/// valid = target.ge(0).nonzero()[0]: whether this function made an index of places, whatever it is
/// called.
bool Inference::holds_places(NodeId name) const {
  const NodeId made =
      ast_[name].kind == K::name ? definition(function_, ast_[name].text, name) : kNoNode;
  return made != kNoNode &&
         contains_any(ast_.slice(made), {".nonzero(", ".argsort(", "randint(", "randperm(",
                                         ".topk(", "arange(", "multinomial(", "argwhere("});
}

/// x[mask], x[~padding], x[batch.train_mask]: whether what an index is called, or how it was made,
/// says that it selects.
bool Inference::selects(NodeId index, const Value& container, NodeId subscript) const {
  const Node& node = ast_[index];
  const bool open = container.kind == Kind::unknown;
  if (node.kind == K::unary) return is_reversed(index);
  if (is_called_mask(index)) return !holds_places(index);
  if (node.kind == K::compare && container.is_device()) return !is_identity_test(node.text);
  if (node.kind != K::name)
    return open && (asks_itself(ast_, subscript, index) || asks_in_brackets(index));
  return (container.is_device() && is_comparison(node.text, subscript)) ||
         (open && (asks_elements(index, ast_.child(subscript, Role::object)) ||
                   is_reversed(definition(function_, node.text, subscript))));
}

/// x.index({mask, Slice()}), x.index(mask), x.index_put_({~padding}, y) of C++: marks what selects
/// by what it is called.
void Inference::take_masks(NodeId call) {
  const NodeId first = ast_.child(call, Role::argument);
  if (first == kNoNode) return;
  const auto take = [&](NodeId index) {
    const Kind kind = values_[index].kind;
    if ((kind == Kind::unknown || kind == Kind::device_tensor) &&
        (is_called_mask(index) || is_reversed(index)))
      values_[index] = likely(Kind::mask);
  };
  if (ast_[first].kind != K::list) return take(first);
  for (NodeId index : children(ast_, first)) take(index);
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
          selects(c, container, id))
        values_[c] = likely(Kind::mask);
    }
  }
  if (text_key) {
    const Value* kept = kept_entry(id);
    if (kept && (kept->kind != Kind::unknown || kept->dependency != 0)) return *kept;
  }
  // optimizer.param_groups[0]["lr"]
  if (text_key && ast_.slice(id).find(".param_groups[") != std::string_view::npos &&
      ast_.slice(id).find("params\"") == std::string_view::npos &&
      ast_.slice(id).find("params'") == std::string_view::npos)
    return likely(Kind::number);
  // dataset[i]: what the host has read.
  const NodeId object = ast_.child(id, Role::object);
  if ((container.kind == Kind::unknown || container.kind == Kind::other) && !text_key &&
      object != kNoNode && is_dataset_name(last_component(ast_.slice(object))))
    return likely(Kind::host_tensor);
  // dataset.images[i]: likewise, one of all
  if (container.kind == Kind::unknown && container.dependency == 0 && object != kNoNode &&
      !text_key && ast_[object].kind == K::attribute && names_.uses("torch") &&
      is_dataset_name(last_component(ast_.slice(ast_.child(object, Role::object)))))
    return likely(Kind::batch, kLoaded);
  if (container.kind == Kind::mask || container.kind == Kind::device_tensor) {
    if (text_key) return likely(Kind::device_tensor, kModuleOutput);
    Value out = container;
    out.certainty = std::min(out.certainty, Certainty::likely);
    return out;
  }
  if (container.kind == Kind::parameter) return likely(Kind::device_tensor, container.flags);
  // net->parameters()[i]; Python's is a generator
  if (container.kind == Kind::parameters && ast_.grammar == Grammar::cuda)
    return likely(Kind::parameter);
  if (container.kind == Kind::host_tensor) {
    if (is_element_of_row(id)) return likely(Kind::number);
    // A part of a tensor that was just made: making it on the device is not the point any more.
    return likely(Kind::host_tensor,
                  takes_all(ast_, id) ? container.flags : container.flags & kAttribute);
  }
  if (container.kind == Kind::tensor_dict) return likely(Kind::device_tensor);
  if (container.kind == Kind::host_tensors) return element_value(container);
  const NodeId index = ast_.child(id, Role::index);
  if (container.kind == Kind::shape && index != kNoNode && ast_[index].kind == K::slice)
    return container;  // x.shape[1:]
  if (container.kind == Kind::tensor_list || container.kind == Kind::batch ||
      container.kind == Kind::jax_array || container.kind == Kind::numpy ||
      container.kind == Kind::shape) {
    return element_value(container);
  }
  if (container.kind == Kind::unknown && container.dependency == 0 && is_of_tensors_axes(id))
    return likely(Kind::device_tensor);
  Value out;
  out.flags = container.flags & kLoaded;
  return out;
}

/// order[i] of order = torch.randperm(n): indexing by it asks nothing of the device.
bool Inference::is_element_of_row(NodeId subscript) const {
  const NodeId object = ast_.child(subscript, Role::object);
  const NodeId index = ast_.child(subscript, Role::index);
  if (object == kNoNode || index == kNoNode || ast_[object].kind != K::name ||
      values_[index].kind != Kind::number)
    return false;
  const NodeId made = definition(function_, ast_[object].text, subscript);
  return made != kNoNode && ast_[made].kind == K::call &&
         is_one_of(callee_name(ast_, made), {"randperm", "arange"});
}

/// poses[:, None, :]: no list has axes, and where nothing but PyTorch is used no other array. What
/// is moved to the device may be a batch.
bool Inference::is_of_tensors_axes(NodeId subscript) const {
  if (ast_.grammar != Grammar::python || !names_.uses("torch") || names_.uses("numpy") ||
      names_.uses("pandas") || names_.uses("jax"))
    return false;
  const Node& parent = ast_[ast_[subscript].parent];
  if (parent.kind == K::attribute && is_one_of(parent.text, {"to", "cuda"})) return false;
  bool slices = false;
  unsigned axes = 0;
  for (NodeId c : children(ast_, subscript)) {
    if (ast_[c].role == Role::object) continue;
    slices |= ast_[c].kind == K::slice;
    ++axes;
  }
  return slices && axes > 1;
}

}  // namespace stallscope
