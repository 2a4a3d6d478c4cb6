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

bool is_module_like_class(const FileFacts& facts, uint32_t klass) {
  return facts.classes[klass].is_module;
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
  values_[id] = out;
  return out;
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
  const Scope& own = scopes_[function_];
  Value out;
  bool found = false;
  for (uint32_t f = function_;;) {
    auto entry = scopes_[f].variables.find(name);
    if (entry != scopes_[f].variables.end()) {
      out = entry->second;
      found = true;
      break;
    }
    if (f == 0) break;
    f = facts_.functions[f].parent == kNone ? 0 : facts_.functions[f].parent;
  }
  if (out.kind != Kind::unknown) return out;
  if (own.used_as_module.contains(name) && is_model_name(name)) return likely(Kind::module);
  if (own.used_as_tensor.contains(name)) return likely(Kind::device_tensor, out.flags);
  if (!found && is_loader_name(name)) return likely(Kind::loader);
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
  if (is_self(object)) return self_attribute(name);
  Dotted path = names_.resolve(id);
  if (path.imported) {
    if (path.path.starts_with("torch.") && path.path.find('.', 6) == std::string::npos)
      return proven(Kind::device);
    if (path.path.starts_with("math.") || path.path == "numpy.pi") return proven(Kind::number);
  }
  Value receiver = eval(object);
  if (auto known = value_of_attribute(receiver, name)) return *known;
  return {};
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
    } else {
      if (shape.count++ == 0) shape.first = v;
      if (ast_.grammar == Grammar::cuda &&
          contains_any(ast_.slice(c), {"device", "kcuda", "options", ".options()"})) {
        shape.has_device = true;
      }
    }
    shape.any_device_argument |= v.is_device() || v.kind == Kind::tensor_list;
    shape.any_host_tensor |= v.kind == Kind::host_tensor || v.kind == Kind::batch;
  }
  return shape;
}

Value Inference::eval_call(NodeId id) {
  NodeId callee = ast_.child(id, Role::callee);
  if (callee == kNoNode) return eval_children(id);
  const bool method = ast_[callee].kind == K::attribute;
  NodeId object = method ? ast_.child(callee, Role::object) : kNoNode;
  Value receiver;
  if (object != kNoNode)
    receiver = eval(object);
  else if (ast_[callee].kind != K::name)
    receiver = eval(callee);
  CallShape shape = shape_of(id);
  if (device_default_ && !shape.device_is_cpu) shape.has_device = true;
  Dotted path = names_.resolve(callee);
  if (path.imported) {
    if (auto known = value_of_function(path.path, shape)) return *known;
    if (!method || object == kNoNode || ast_[object].kind == K::name) {
      Value out;
      out.dependency = depend(DependencyKind::returns, path.path);
      return out;
    }
  }
  if (!method) return call_function(id, callee, shape);
  return call_method(id, callee, receiver, shape);
}

Value Inference::call_function(NodeId id, NodeId callee, const CallShape& shape) {
  if (ast_[callee].kind != K::name) {
    Value target = values_[callee];
    if (target.kind == Kind::module)
      return likely(target.has(kJax) ? Kind::jax_array : Kind::device_tensor, kModuleOutput);
    return {};
  }
  const std::string_view name = ast_[callee].text;
  uint32_t own = local_function(callee);
  if (own != kNone) {
    run_function(own);
    Value out = facts_.functions[own].returns;
    if ((facts_.functions[own].flags & kJitCompiled) != 0 && names_.uses("jax")) {
      return likely(Kind::jax_array, kJax);
    }
    // Its parameters mean nothing here; what they stand for is decided at the link.
    if (out.kind == Kind::unknown)
      out = Value{Kind::unknown, Certainty::unknown, 0,
                  depend(DependencyKind::returns, std::string(name))};
    return out;
  }
  auto klass = classes_by_name_.find(name);
  if (klass != classes_by_name_.end()) {
    if (is_module_like_class(facts_, klass->second)) return proven(Kind::module);
    Value out;
    out.dependency = depend(DependencyKind::instance, std::string(name));
    return out;
  }
  bool known = false;
  Value builtin = call_builtin(id, name, shape, known);
  if (known) return builtin;
  Value target = eval_name(callee);
  values_[callee] = target;
  if (target.kind == Kind::module || (target.kind == Kind::unknown && is_model_name(name))) {
    return likely(target.has(kJax) ? Kind::jax_array : Kind::device_tensor, kModuleOutput);
  }
  return {};
}

Value Inference::call_builtin(NodeId id, std::string_view name, const CallShape& shape,
                              bool& known) {
  known = true;
  if (name == "len" || name == "int" || name == "float" || name == "bool" || name == "round" ||
      name == "isinstance" || name == "hasattr" || name == "ord" || name == "hash" ||
      name == "id" || name == "callable" || name == "issubclass") {
    return proven(Kind::number);
  }
  if (name == "abs" || name == "sum" || name == "max" || name == "min") {
    if (shape.first.kind == Kind::tensor_list)
      return likely(Kind::device_tensor, shape.first.flags & kParameterLoop);
    if (shape.first.is_device())
      return likely(Kind::device_tensor, shape.first.flags & kParameterLoop);
    if (shape.first.kind == Kind::number || shape.first.kind == Kind::shape)
      return likely(Kind::number);
    if (shape.any_device_argument) return likely(Kind::device_tensor);
    return shape.first.is_host() ? likely(Kind::number) : Value{};
  }
  if (name == "str" || name == "repr" || name == "input" || name == "format")
    return proven(Kind::text);
  if (name == "range" || name == "open" || name == "type" || name == "print" || name == "super" ||
      name == "vars" || name == "dir" || name == "slice" || name == "bytes") {
    return proven(Kind::other);
  }
  if (name == "list" || name == "tuple" || name == "sorted" || name == "reversed" ||
      name == "iter" || name == "filter" || name == "set" || name == "enumerate") {
    if (shape.first.kind == Kind::device_tensor || shape.first.kind == Kind::parameters)
      return likely(Kind::tensor_list, shape.first.flags);
    return shape.first;
  }
  if (name == "dict" || name == "defaultdict" || name == "map" || name == "zip") return Value{};
  if (name == "next") {
    Value out = element_value(shape.first);
    if (out.kind == Kind::unknown) {
      NodeId from = ast_.child(id, Role::argument);
      if (from != kNoNode && is_loader_name(ast_.slice(from))) return likely(Kind::batch, kLoaded);
    }
    return out;
  }
  known = false;
  return {};
}

Value Inference::call_method(NodeId id, NodeId callee, const Value& receiver,
                             const CallShape& given) {
  const std::string_view name = ast_[callee].text;
  NodeId object = ast_.child(callee, Role::object);
  CallShape shape = given;
  if (name == "to" || name == "cuda") {
    NodeId first = ast_.child(id, Role::argument);
    if (first != kNoNode) {
      std::string_view text = ast_.slice(first);
      const bool dtype = is_dtype(text);
      shape.device_is_cpu |= text == "'cpu'" || text == "\"cpu\"" || text.ends_with("kCPU") ||
                             text == "torch.device('cpu')" || text == "torch.device(\"cpu\")";
      if (ast_[first].kind != K::keyword && !dtype && !shape.device_is_cpu) shape.has_device = true;
    }
  }
  if (is_self(object)) {
    uint32_t own = local_function(callee);
    if (own != kNone) {
      run_function(own);
      Value out = facts_.functions[own].returns;
      if (out.kind == Kind::unknown) {
        out = Value{Kind::unknown, Certainty::unknown, 0,
                    depend(DependencyKind::returns, facts_.functions[own].qualified)};
      }
      return out;
    }
    Value attribute = self_attribute(name);
    values_[callee] = attribute;
    uint32_t klass = outline_.class_of[function_];
    const bool in_module = klass != kNone && facts_.classes[klass].is_module;
    if (attribute.kind == Kind::module ||
        (attribute.kind == Kind::unknown && is_model_name(name))) {
      return likely(attribute.has(kJax) ? Kind::jax_array : Kind::device_tensor, kModuleOutput);
    }
    if (in_module && (facts_.functions[function_].flags & kForward) != 0 &&
        attribute.kind == Kind::unknown && attribute.dependency == 0 &&
        !contains_any(name, {"get_", "is_", "log", "check", "has_", "should"})) {
      return likely(Kind::device_tensor, kModuleOutput);
    }
    Value out;
    out.dependency = depend(DependencyKind::returns, "self." + std::string(name));
    return out;
  }
  if (name == "append" || name == "extend") {
    NodeId target = object;
    if (target != kNoNode && (receiver.kind == Kind::list || receiver.kind == Kind::tensor_list)) {
      Value next = shape.first.is_device() ? likely(Kind::tensor_list) : receiver;
      if (shape.first.is_host() && receiver.kind == Kind::list) next.certainty = Certainty::likely;
      if (shape.first.kind == Kind::unknown && receiver.kind == Kind::list) next = Value{};
      if (ast_[target].kind == K::name) scopes_[function_].variables[ast_[target].text] = next;
    }
    return proven(Kind::none);
  }
  if (receiver.kind == Kind::module) {
    if (name == "parameters" || name == "named_parameters" || name == "buffers")
      return likely(Kind::parameters);
    if (name == "to" || name == "cuda" || name == "cpu" || name == "train" || name == "eval" ||
        name == "half" || name == "float" || name == "bfloat16" || name == "requires_grad_" ||
        name == "double" || name == "apply") {
      return receiver;
    }
    if (name == "forward") return likely(Kind::device_tensor, kModuleOutput);
    if (name == "state_dict") return likely(Kind::other);
    return {};
  }
  if (receiver.kind == Kind::jax_array && name == "block_until_ready") return receiver;
  if (auto known = value_of_method(receiver, name, shape)) {
    if (known->kind == Kind::unknown && known->dependency == 0)
      known->dependency = receiver.dependency;
    return *known;
  }
  // In a PyTorch file x.any() of what is not known to be NumPy is a tensor.
  if ((name == "any" || name == "all") && receiver.kind == Kind::unknown && names_.uses("torch") &&
      !contains_any(ast_.slice(object), {"np", "df", "arr"})) {
    return likely(Kind::mask);
  }
  Value out;
  // `loss.mean()` is whatever loss is: keep what decides it.
  if (receiver.kind == Kind::unknown && receiver.dependency != 0 && ast_[object].kind == K::name &&
      dependency(receiver)->kind == DependencyKind::parameter) {
    out.dependency = receiver.dependency;
  }
  if (object != kNoNode && ast_[object].kind == K::name && is_model_name(ast_[object].text) &&
      name == "forward") {
    return likely(Kind::device_tensor, kModuleOutput);
  }
  return out;
}

Value Inference::eval_subscript(NodeId id) {
  Value container;
  bool text_key = false;
  for (NodeId c : children(ast_, id)) {
    Value v = eval(c);
    if (ast_[c].role == Role::object)
      container = v;
    else
      text_key |= v.kind == Kind::text;
  }
  if (container.kind == Kind::mask || container.kind == Kind::device_tensor) {
    if (text_key) return likely(Kind::device_tensor, kModuleOutput);
    Value out = container;
    out.certainty = std::min(out.certainty, Certainty::likely);
    return out;
  }
  if (container.kind == Kind::parameter) return likely(Kind::device_tensor, container.flags);
  if (container.kind == Kind::tensor_list || container.kind == Kind::batch ||
      container.kind == Kind::jax_array || container.kind == Kind::numpy ||
      container.kind == Kind::host_tensor || container.kind == Kind::shape) {
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
    return merge(then, other);
  }
  Value a, b;
  unsigned count = 0;
  for (NodeId c : children(ast_, id)) {
    Value v = eval(c);
    (count++ == 0 ? a : b) = v;
  }
  if (node.kind == K::boolean) {
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
    if (a.kind == Kind::host_tensor || b.kind == Kind::host_tensor)
      return likely(Kind::host_tensor);
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
  if (element.is_host()) return likely(Kind::list);
  return {};
}

Value Inference::eval_collection(NodeId id) {
  bool any_device = false, all_host = true, any_batch = false, empty = true;
  for (NodeId c : children(ast_, id)) {
    Value v = eval(c);
    if (ast_[c].kind == K::pair) {
      NodeId value = ast_.child(c, Role::value);
      v = value == kNoNode ? Value{} : values_[value];
    }
    empty = false;
    any_device |= v.is_device() || v.kind == Kind::tensor_list;
    any_batch |= v.kind == Kind::batch;
    all_host &= v.is_host();
  }
  if (empty) return {Kind::list, Certainty::unknown, 0, 0};
  if (any_device) return ast_[id].kind == K::dict ? Value{} : likely(Kind::tensor_list);
  if (any_batch) return likely(Kind::batch, kLoaded);
  if (all_host) return likely(Kind::list);
  return {};
}

Value value_of_type(std::string_view type) {
  const bool container = contains_any(type, {"list[", "dict[", "tuple[", "sequence[", "iterable[",
                                             "callable", "vector<", "mapping["});
  const bool optional = contains_any(type, {"optional", "none", "union", "|"});
  const Certainty certainty = optional ? Certainty::likely : Certainty::proven;
  if (contains_any(
          type, {"packedsequence", "tensordataset", "tensorboard", "tensordict", "tensoroptions"}))
    return {};
  if (type.find("Callable") != std::string_view::npos) return {};
  if (contains_any(type, {"jax.array", "jnp.ndarray", "chex.array", "float[array", "int[array"}) ||
      type == "Array") {
    return {container ? Kind::unknown : Kind::jax_array, certainty, kJax, 0};
  }
  if (type.find("Tensor") != std::string_view::npos) {
    if (contains_any(type, {"float", "int", "ndarray", "str", "bool"})) return {};
    return {container ? Kind::tensor_list : Kind::device_tensor, Certainty::likely, 0, 0};
  }
  if (container) return {};
  if (contains_any(type, {"ndarray"})) return {Kind::numpy, certainty, 0, 0};
  if (type == "nn.Module" || type == "torch.nn.Module" || type == "Module")
    return proven(Kind::module);
  if (contains_any(type, {"optimizer"}) && !contains_any(type, {"config", "args"}))
    return likely(Kind::optimizer);
  if (contains_any(type, {"dataloader"})) return likely(Kind::loader);
  if (optional && contains_any(type, {"tensor", "any"})) return {};
  if (type == "int" || type == "float" || type == "bool" || type == "double" || type == "size_t" ||
      type == "int64_t" || type == "Optional[int]" || type == "Optional[float]" ||
      type == "Optional[bool]" || type == "int | None" || type == "float | None" ||
      type == "bool | None" || type == "unsigned" || type == "long") {
    return {Kind::number, certainty, 0, 0};
  }
  if (type == "str" || type == "Optional[str]" || type == "std::string" || type == "str | None")
    return {Kind::text, certainty, 0, 0};
  if (type == "torch.device" || type == "torch.dtype" || type == "torch::Device")
    return proven(Kind::device);
  return {};
}

}  // namespace stallscope
