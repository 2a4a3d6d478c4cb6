// Inference over expressions; statements are in infer.cpp.
#include <algorithm>

#include "source/infer.h"
#include "source/roles.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool is_identity_test(std::string_view op) {
  return op == "is" || op == "is not" || op == "in" || op == "not in";
}

/// torch.ones(n, dtype=torch.bool, device=d), keep.to(torch.bool)
bool is_given_bool(const Ast& ast, NodeId call) {
  for (NodeId c : children(ast, call)) {
    if (ast[c].role != Role::argument) continue;
    const bool keyword = ast[c].kind == K::keyword;
    if (keyword && ast[c].text != "dtype") continue;
    const NodeId value = keyword ? ast.child(c, Role::value) : c;
    if (value != kNoNode && ast[value].kind == K::attribute && ast.slice(value) == "torch.bool")
      return true;
  }
  return false;
}

/// images / 255, mask > 0: a batch that the host works on before it is moved.
bool is_part_of_batch(const Value& a, const Value& b) {
  auto fits = [](const Value& one, const Value& other) {
    return one.kind == Kind::batch && (other.kind == Kind::batch || other.kind == Kind::number);
  };
  return fits(a, b) || fits(b, a);
}

}  // namespace

Value Inference::eval(NodeId id) {
  Value out;
  switch (ast_[id].kind) {
    case K::name:
      out = eval_name(id);
      break;
    case K::attribute:
      out = eval_attribute(id);
      break;
    case K::call:
      out = eval_call(id);
      if (out.kind == Kind::device_tensor && is_given_bool(ast_, id)) out.kind = Kind::mask;
      break;
    case K::number:
      out = proven(Kind::number);
      break;
    case K::string:
      eval_children(id);
      out = proven(Kind::text);
      break;
    case K::constant:
      out =
          proven(ast_[id].text == "None" || ast_[id].text == "nullptr" ? Kind::none : Kind::number);
      break;
    case K::subscript:
      out = eval_subscript(id);
      break;
    case K::binary:
    case K::unary:
    case K::compare:
    case K::boolean:
    case K::conditional:
      out = eval_operator(id);
      break;
    case K::comprehension:
      out = eval_comprehension(id);
      break;
    case K::tuple:
    case K::list:
    case K::set:
    case K::dict:
      out = eval_collection(id);
      break;
    case K::walrus: {
      NodeId value = ast_.child(id, Role::value), name = ast_.child(id, Role::name);
      if (value != kNoNode) out = eval(value);
      if (name != kNoNode) assign(name, out, value);
      break;
    }
    case K::assign:
    case K::aug_assign:
      statement(id);
      return values_[id];
    case K::lambda: {
      NodeId body = ast_.child(id, Role::body);
      if (body != kNoNode) ast_[body].kind == K::block ? statements(body) : void(eval(body));
      break;
    }
    case K::yield:
    case K::return_:
      statement(id);
      return values_[id];
    default:
      out = eval_children(id);
      break;
  }
  return values_[id] = typed(id, out);
}

/// Evaluates what is below and gives the value of the first child.
Value Inference::eval_children(NodeId id) {
  Value first;
  bool any = false;
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].kind == K::block) {
      statements(c);
      continue;
    }
    Value v = eval(c);
    if (!any) first = v;
    any = true;
  }
  const K kind = ast_[id].kind;
  return kind == K::await || kind == K::interpolation || kind == K::keyword || kind == K::star ||
                 kind == K::other || kind == K::with_item
             ? first
             : Value{};
}

Value Inference::eval_name(NodeId id) {
  const std::string_view name = ast_[id].text;
  // Of a PackedSequence: on the host, whatever its data is on.
  if (name == "batch_sizes") return likely(Kind::host_tensor);
  const Scope& own = scopes_[function_];
  Value out;
  bool bound = false;
  for (uint32_t f = function_;;) {
    auto entry = scopes_[f].variables.find(name);
    if (entry != scopes_[f].variables.end()) {
      out = entry->second;
      bound = out.kind != Kind::none;
      break;
    }
    if (f == 0) break;
    f = facts_.functions[f].parent == kNone ? 0 : facts_.functions[f].parent;
  }
  if (!bound) {
    if (const Value carried = carried_into(id); carried.is_device()) return carried;
  }
  // loss = criterion(...) and loss.backward(): no record of outputs, a tensor.
  if (out.kind == Kind::device_tensor &&
      (own.used_as_tensor.contains(name) || is_offsets_name(name)))
    out.flags &= static_cast<uint8_t>(~kModuleOutput);
  if (out.kind != Kind::unknown) return out;
  if (own.used_as_module.contains(name) && is_model_name(name)) return likely(Kind::module);
  const Dependency* from = dependency(out);
  const bool instance = from && from->kind == DependencyKind::instance;
  // Layer layer; layer.backward(dy, dx): what C++ declares as something else is no tensor.
  // What a helper hands to torch.outer() its callers know better.
  const bool given =
      own.given_as_tensor.contains(name) && (!from || from->kind != DependencyKind::parameter ||
                                             (facts_.functions[function_].flags & kForward) != 0);
  if ((given || own.used_as_tensor.contains(name)) && !(instance && ast_.grammar == Grammar::cuda))
    return likely(Kind::device_tensor, out.flags);
  if (!instance && is_loader_name(name)) return likely(Kind::loader);
  if (!instance && is_offsets_name(name)) return likely(Kind::device_tensor);
  return out.dependency == 0 ? function_value(id) : out;
}

/// `if step > 0: log(float(norm))` before `norm = clip_grad_norm_(...)`: what the loop's last pass
/// left in the variable.
Value Inference::carried_into(NodeId id) {
  const auto known = definitions_.find(ast_[id].text);
  if (looks_ahead_ || known == definitions_.end()) return {};
  for (uint32_t loop = outline_.loop_of[id]; loop != kNone; loop = facts_.loops[loop].parent) {
    for (const NodeId made : known->second) {
      if (made < id || made >= ast_[outline_.loops[loop]].end ||
          outline_.function_of[made] != function_)
        continue;
      const NodeId source = ast_.child(made, Role::right);
      if (source == kNoNode) continue;
      looks_ahead_ = true;
      const Value value = eval(source);
      looks_ahead_ = false;
      return value;
    }
  }
  return {};
}

Value Inference::function_value(NodeId id) {
  const Role role = ast_[id].role;
  if (ast_.grammar != Grammar::python || role == Role::callee || role == Role::object) return {};
  const Dotted& path = names_.resolve(id);
  const bool own = ast_[id].kind == K::name && local_function(id) != kNone;
  const bool taken = path.imported && !is_library_root(first_component(path.path)) &&
                     !is_class_like(last_component(path.path));
  Value out;
  if (own || taken) out.dependency = depend(DependencyKind::function, path.path);
  return out;
}

Value Inference::self_attribute(std::string_view name) const {
  uint32_t klass = outline_.class_of[function_];
  for (uint32_t f = function_; klass == kNone && facts_.functions[f].parent != kNone;) {
    f = facts_.functions[f].parent;
    klass = outline_.class_of[f];
  }
  for (int hops = 0; klass != kNone && hops < 8; ++hops) {
    auto found = attributes_[klass].find(name);
    if (found != attributes_[klass].end()) return found->second;
    uint32_t next = kNone;
    for (const std::string& base : facts_.classes[klass].bases) {
      auto parent = classes_by_name_.find(last_component(base));
      if (parent != classes_by_name_.end() && parent->second != klass) next = parent->second;
    }
    klass = next;
  }
  return {};
}

Value Inference::eval_attribute(NodeId id) {
  NodeId object = ast_.child(id, Role::object);
  if (object == kNoNode) return {};
  const std::string_view name = ast_[id].text;
  if (is_self(object)) {
    Value out = self_attribute(name);
    if (out.has(kAttribute)) out.flags &= static_cast<uint8_t>(~(kFresh | kFromHost));
    return out;
  }
  const Dotted& path = names_.resolve(id);
  if (path.imported) {
    if (path.path.starts_with("torch.") && path.path.find('.', 6) == std::string::npos)
      return is_device_module(last_component(path.path)) ? Value{} : proven(Kind::device);
    if (path.path.starts_with("math.") || path.path == "numpy.pi") return proven(Kind::number);
  }
  Value receiver = eval(object);
  if (auto known = value_of_attribute(receiver, name)) return *known;
  // A field that a record of this file declares as a tensor.
  if (receiver.kind == Kind::unknown) {
    // noise_scheduler.alphas_cumprod: a table that the scheduler keeps on the host
    if (is_scheduler_table(name) && contains_any(ast_.slice(object), {"scheduler"}))
      return likely(Kind::host_tensor, kAttribute);
    const auto field = fields_.find(name);
    if (field != fields_.end()) return field->second;
  }
  return path.imported ? function_value(id) : Value{};
}

namespace {

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
          (ast_[c].kind == K::name ? is_mask_name(ast_[c].text) ||
                                         (container.is_device() && is_comparison(ast_[c].text, id))
                                   : container.kind == Kind::unknown && asks_itself(ast_, id, c)))
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

Value Inference::eval_operator(NodeId id) {
  const Node& node = ast_[id];
  if (node.kind == K::conditional) {
    Value then, other;
    for (NodeId c : children(ast_, id)) {
      Value v = eval(c);
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
    if (is_identity_test(node.text)) return proven(Kind::number);
    if (a.kind == Kind::none || b.kind == Kind::none || a.kind == Kind::text ||
        b.kind == Kind::text) {
      return proven(Kind::number);
    }
    // A record of outputs is not what gets compared.
    if (device)
      return Value{tensor.kind == Kind::jax_array ? Kind::jax_array : Kind::mask, tensor.certainty,
                   0, 0};
    if (is_part_of_batch(a, b)) return likely(Kind::batch, kLoaded);
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
    const bool mask = a.kind == Kind::mask && (b.kind == Kind::mask || b.kind == Kind::unknown) &&
                      (node.text == "&" || node.text == "|" || node.text == "^");
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
  Value out;
  out.dependency = a.dependency != 0 ? a.dependency : b.dependency;
  return out;
}

Value Inference::eval_comprehension(NodeId id) {
  std::vector<NodeId> bodies;
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].kind == K::comp_for) {
      NodeId over = ast_.child(c, Role::right);
      if (over != kNoNode) eval(over);
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
  if (element.is_device() || element.kind == Kind::tensor_list)
    return likely(Kind::tensor_list, element.flags & kParameterLoop);
  if (element.kind == Kind::batch) return element;
  if (element.kind == Kind::host_tensor) return likely(Kind::host_tensors);
  if (element.kind == Kind::other) return element;  // of slices: no elements of an index
  if (element.is_host()) return likely(Kind::list);
  return {};
}

Value Inference::eval_collection(NodeId id) {
  bool any_device = false, all_device = true, all_host = true, any_batch = false, empty = true;
  bool all_host_tensors = true, all_other = true, all_jax = true;
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
    all_other &= v.kind == Kind::other;
    all_jax &= v.kind == Kind::jax_array;
  }
  if (empty) return {Kind::list, Certainty::unknown, 0, 0};
  // A mixed tuple is unpacked by position: what its parts are is not known here.
  if (any_device && !all_device) return {};
  // {"loss": loss}: a tree, as a step of JAX returns them.
  if (all_jax && ast_[id].kind == K::dict) return likely(Kind::jax_array, kJax);
  if (any_device) return ast_[id].kind == K::dict ? Value{} : likely(Kind::tensor_list);
  if (any_batch) return likely(Kind::batch, kLoaded);
  if (all_host_tensors) return likely(Kind::host_tensors);
  if (all_other) return likely(Kind::other);  // slices
  if (all_host) return likely(Kind::list);
  return {};
}

}  // namespace stallscope
