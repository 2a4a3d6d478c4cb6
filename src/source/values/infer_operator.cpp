// Inference over operators, comprehensions and collections.
#include <algorithm>
#include <deque>

#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// images / 255, mask > 0: a batch that the host works on before it is moved.
bool is_part_of_batch(const Value& a, const Value& b) {
  auto fits = [](const Value& one, const Value& other) {
    return one.kind == Kind::batch && (other.kind == Kind::batch || other.kind == Kind::number);
  };
  return fits(a, b) || fits(b, a);
}

/// t.to(device), t.cuda()
bool is_copy_to_device(const Ast& ast, NodeId id) {
  const NodeId callee = ast[id].kind == K::call ? ast.child(id, Role::callee) : kNoNode;
  const NodeId object = callee == kNoNode ? kNoNode : ast.child(callee, Role::object);
  if (object == kNoNode || ast[object].kind != K::name) return false;
  const std::string_view name = callee_name(ast, id);
  return name == "cuda" || (name == "to" && contains_any(ast.slice(id), {"device", "cuda"}));
}

}  // namespace

/// offsets[1:] - offsets[:-1]: lists have no difference, and PyTorch alone is used.
bool Inference::is_difference_of_parts(NodeId id) const {
  const auto is_part = [&](NodeId operand) {
    if (ast_[operand].kind != K::subscript) return false;
    for (const NodeId index : children(ast_, operand)) {
      if (ast_[index].kind == K::slice) return true;
    }
    return false;
  };
  const NodeId left = ast_[id].first_child;
  return ast_.grammar == Grammar::python && names_.uses("torch") && !names_.uses("numpy") &&
         is_part(left) && is_part(ast_[left].next);
}

Value Inference::eval_operator(NodeId id) {
  const Node& node = ast_[id];
  if (node.kind == K::conditional) {
    // x.item() if torch.is_tensor(x) else float(x)
    const NodeId condition = ast_.child(id, Role::condition);
    const NodeId tensor_then = condition == kNoNode ? kNoNode : tested_for_tensor(ast_, condition);
    const NodeId tensor_else = condition != kNoNode && ast_[condition].kind == K::unary
                                   ? tested_for_tensor(ast_, ast_[condition].first_child)
                                   : kNoNode;
    Value then, other;
    for (NodeId c : children(ast_, id)) {
      const NodeId none = ast_[c].role == Role::alternative   ? tensor_then
                          : ast_[c].role == Role::consequence ? tensor_else
                                                              : kNoNode;
      const Value v = none == kNoNode ? eval(c) : eval_without_tensor(c, none);
      if (ast_[c].role == Role::consequence) then = v;
      if (ast_[c].role == Role::alternative) other = v;
    }
    return of_both(then, other, merge(then, other));
  }
  Value a, b;
  unsigned count = 0;
  for (NodeId c : children(ast_, id)) {
    Value v = eval(c);
    (count++ == 0 ? a : b) = v;
  }
  if (node.kind == K::boolean) {
    // (x.dim() > 1 and size == lengths[-1]).item(): what comes last, unless the first decides
    if (node.text == "and" && b.kind == Kind::mask) return likely(Kind::mask);
    return a.kind == Kind::number && b.kind == Kind::number ? proven(Kind::number) : Value{};
  }
  const bool device = a.is_device() || b.is_device();
  const Value& tensor = a.is_device() ? a : b;
  if (node.kind == K::compare) {
    // xnp == jnp: which library a function was given
    bool of_modules = false;
    for (NodeId c : children(ast_, id))
      of_modules |= ast_[c].kind == K::name &&
                    is_one_of(names_.import_of(ast_[c].text), {"jax.numpy", "numpy", "torch"});
    if (is_identity_test(node.text) || of_modules) return proven(Kind::number);
    if (a.kind == Kind::none || b.kind == Kind::none || a.kind == Kind::text ||
        b.kind == Kind::text) {
      return proven(Kind::number);
    }
    // x.shape == expected: of two tuples, whatever the other was made from
    if ((a.kind == Kind::shape || b.kind == Kind::shape) && is_one_of(node.text, {"==", "!="}))
      return proven(Kind::number);
    // torch.arange(n)[None] < lengths[:, None]: PyTorch compares a tensor of the host with such
    // only.
    const Value& other = a.is_device() ? b : a;
    if (device && other.kind == Kind::host_tensor && other.has(kFresh) &&
        tensor.certainty < Certainty::proven)
      return likely(Kind::host_tensor, kFresh);
    // A record of outputs is not what gets compared.
    if (device)
      return derived({tensor.kind == Kind::jax_array ? Kind::jax_array : Kind::mask,
                      tensor.certainty, 0, tensor.dependency});
    // labels != IGNORE_INDEX
    const bool constant = a.kind == Kind::batch && b.kind == Kind::unknown && b.dependency == 0;
    if (constant || is_part_of_batch(a, b)) return likely(Kind::batch, kLoaded);
    if (a.kind == Kind::host_tensor || b.kind == Kind::host_tensor) {
      const Value& host = a.kind == Kind::host_tensor ? a : b;
      return likely(Kind::host_tensor, host.flags & (kFresh | kFromHost));
    }
    if (a.is_host() && b.is_host())
      return likely(a.kind == Kind::numpy || b.kind == Kind::numpy ? Kind::numpy : Kind::number);
    Value out;
    out.dependency = a.dependency != 0 ? a.dependency : b.dependency;
    return out;
  }
  if (node.kind == K::unary) {
    if (node.text == "not" || node.text == "!") return proven(Kind::number);
    return a;
  }
  if (node.text == "%" && a.kind == Kind::text) return proven(Kind::text);
  // [i] * n is a list again, whatever n is.
  if (node.text == "*" && node.first_child != kNoNode && ast_[node.first_child].kind == K::list)
    return a;
  if (device) {
    // found * inside, of two of them, is one, too
    const bool mask = a.kind == Kind::mask &&
                      (b.kind == Kind::mask || (b.kind == Kind::unknown && node.text != "*")) &&
                      is_one_of(node.text, {"&", "|", "^", "*"});
    Value out = tensor;
    out.flags = (a.flags | b.flags) & static_cast<uint8_t>(kParameterLoop | kJax);
    out.kind = mask                             ? Kind::mask
               : tensor.kind == Kind::jax_array ? Kind::jax_array
                                                : Kind::device_tensor;
    return out;
  }
  if (is_part_of_batch(a, b)) return likely(Kind::batch, kLoaded);
  if (a.kind == Kind::host_tensor || b.kind == Kind::host_tensor) {
    // With an unknown operand the result may be on the device: a 0-d host tensor joins in.
    const Value& host = a.kind == Kind::host_tensor ? a : b;
    return host;
  }
  if (a.kind == Kind::numpy || b.kind == Kind::numpy) return likely(Kind::numpy);
  if (a.kind == Kind::number && b.kind == Kind::number) return proven(Kind::number);
  if (a.kind == Kind::text || b.kind == Kind::text) return likely(Kind::text);
  if (a.is_host() && b.is_host()) return likely(Kind::other);
  if (node.text == "-" && is_difference_of_parts(id)) return likely(Kind::device_tensor);
  Value out;
  out.dependency = a.dependency != 0 ? a.dependency : b.dependency;
  return out;
}

/// The value of an expression in which the variable `name` is no tensor.
Value Inference::eval_without_tensor(NodeId id, NodeId name) {
  const Held tensor(scopes_[function_], ast_[name].text);
  scopes_[function_].variables[ast_[name].text] = likely(Kind::other);
  return eval(id);
}

/// What a comprehension binds is bound in it alone, and used in it.
Value Inference::eval_comprehension(NodeId id) {
  Scope& scope = scopes_[function_];
  std::deque<Held> outside;
  for (const NodeId bound : names_bound_by(ast_, id)) outside.emplace_back(scope, ast_[bound].text);
  std::vector<std::string_view> used;
  if (const auto found = scope.elements_used_as_tensor.find(id);
      found != scope.elements_used_as_tensor.end()) {
    for (const std::string_view name : found->second)
      if (scope.used_as_tensor.insert(name).second) used.push_back(name);
  }
  const Value made = list_made(id);
  for (const std::string_view name : used) scope.used_as_tensor.erase(name);
  return made;
}

/// The list of what the bodies of a comprehension give.
Value Inference::list_made(NodeId id) {
  std::vector<NodeId> bodies;
  bool over_batch = false;
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].kind == K::comp_for) {
      NodeId over = ast_.child(c, Role::right);
      if (over != kNoNode) eval(over);
      over_batch |= over != kNoNode && is_batch_name(last_component(ast_.slice(over)));
      bind_loop(c);
    } else if (ast_[c].role == Role::body) {
      bodies.push_back(c);
    } else {
      eval_children(c);
    }
  }
  Value element;
  for (NodeId body : bodies) {
    element = eval(body);
    if (ast_[body].kind == K::pair) {
      NodeId value = ast_.child(body, Role::value);
      if (value != kNoNode) element = values_[value];
    }
  }
  if (element.is_device() || element.kind == Kind::tensor_list ||
      (over_batch && bodies.size() == 1 && is_copy_to_device(ast_, bodies[0])))
    return likely(ast_[bodies[0]].kind == K::pair ? Kind::tensor_dict : Kind::tensor_list,
                  element.flags & kParameterLoop);
  if (element.kind == Kind::batch) return element;
  if (element.kind == Kind::host_tensor) return likely(Kind::host_tensors);
  if (element.kind == Kind::other) return element;  // of slices: no elements of an index
  if (element.is_host()) return likely(Kind::list);
  return {};
}

Value Inference::eval_collection(NodeId id) {
  bool any_device = false, all_device = true, all_host = true, any_batch = false, empty = true;
  bool all_host_tensors = true, all_other = true, all_jax = true, all_fresh = true;
  for (NodeId c : children(ast_, id)) {
    Value v = eval(c);
    if (ast_[c].kind == K::pair) {
      NodeId value = ast_.child(c, Role::value);
      v = value == kNoNode ? Value{} : values_[value];
    }
    empty = false;
    any_device |= v.is_device() || v.kind == Kind::tensor_list;
    all_device &= v.is_device() || v.kind == Kind::tensor_list;
    any_batch |= v.kind == Kind::batch;
    all_host &= v.is_host();
    all_host_tensors &= v.kind == Kind::host_tensor;
    all_fresh &= v.has(kFresh);
    all_other &= v.kind == Kind::other;
    all_jax &= v.kind == Kind::jax_array;
  }
  if (empty) return {Kind::list, Certainty::unknown, 0, 0};
  // A mixed tuple is unpacked by position: what its parts are is not known here.
  if (any_device && !all_device) return {};
  // {"loss": loss}: a tree, as a step of JAX returns them.
  if (all_jax && ast_[id].kind == K::dict) return likely(Kind::jax_array, kJax);
  if (any_device) return likely(ast_[id].kind == K::dict ? Kind::tensor_dict : Kind::tensor_list);
  if (any_batch) return likely(Kind::batch, kLoaded);
  // torch.cat((torch.ones(n), torch.zeros(m))): could be made on the device.
  if (all_host_tensors) return likely(Kind::host_tensors, all_fresh ? +kFresh : 0);
  if (all_other) return likely(Kind::other);  // slices
  if (all_host) return likely(Kind::list);
  return {};
}

}  // namespace stallscope
