#include "source/infer.h"

#include <algorithm>

#include "source/roles.h"

namespace stallscope {
namespace {
using K = NodeKind;
constexpr unsigned kMaxCallDepth = 40;  ///< of own functions evaluated inside one another
}  // namespace

Value merge(const Value& a, const Value& b) {
  if (a.kind == b.kind) {
    Value out = a;
    out.certainty = std::min(a.certainty, b.certainty);
    out.flags = a.flags | b.flags;
    return out;
  }
  if (a.kind == Kind::none || (a.kind == Kind::unknown && b.kind != Kind::unknown)) {
    Value out = b;
    out.certainty = std::min(out.certainty, Certainty::likely);
    return out;
  }
  if (b.kind == Kind::none || b.kind == Kind::unknown) return merge(b, a);
  if (a.is_device() && b.is_device()) return likely(Kind::device_tensor, a.flags | b.flags);
  // A running total starts as a number and becomes a tensor.
  if (a.kind == Kind::number && b.is_device()) return likely(b.kind, b.flags);
  if (b.kind == Kind::number && a.is_device()) return likely(a.kind, a.flags);
  if (a.is_host() && b.is_host()) return likely(Kind::other);
  return {};
}

Inference::Inference(const Ast& ast, const Names& names, const Outline& outline, FileFacts& facts)
    : ast_(ast), names_(names), outline_(outline), facts_(facts) {
  values_.resize(ast.size());
  scopes_.resize(facts.functions.size());
  attributes_.resize(facts.classes.size());
  state_.assign(facts.functions.size(), 0);
  for (uint32_t f = 1; f < facts.functions.size(); ++f) {
    functions_by_name_[ast[outline.functions[f]].text].push_back(f);
  }
  for (uint32_t c = 0; c < facts.classes.size(); ++c) {
    classes_by_name_[ast[outline.classes[c]].text] = c;
  }
  device_default_ = ast.source.find("set_default_device") != std::string_view::npos ||
                    ast.source.find("set_default_tensor_type") != std::string_view::npos;
}

void Inference::run() {
  run_function(0);
  // Attributes come from constructors, so those go first.
  for (uint32_t f = 1; f < facts_.functions.size(); ++f) {
    const std::string& name = facts_.functions[f].name;
    if (outline_.class_of[f] != kNone &&
        (name == "__init__" || name == "setup" || name.starts_with("build"))) {
      run_function(f);
    }
  }
  for (uint32_t f = 1; f < facts_.functions.size(); ++f) run_function(f);
}

void Inference::run_function(uint32_t function) {
  if (state_[function] != 0 || depth_ > kMaxCallDepth) return;
  state_[function] = 1;
  ++depth_;
  const uint32_t outer = function_;
  function_ = function;
  find_evidence(function);
  bind_parameters(function);
  const NodeId node = outline_.functions[function];
  if (function == 0) {
    statements(node);
  } else {
    NodeId body = ast_.child(node, Role::body);
    if (body != kNoNode) statements(body);
  }
  function_ = outer;
  --depth_;
  state_[function] = 2;
}

/// Names on which tensor-only or module-only methods are called anywhere in the function.
void Inference::find_evidence(uint32_t function) {
  Scope& scope = scopes_[function];
  const NodeId node = outline_.functions[function];
  for (NodeId id = node + 1; id < ast_[node].end; ++id) {
    if (outline_.function_of[id] == function && ast_[id].kind == K::call) note_use(id, scope);
  }
}

void Inference::note_use(NodeId call, Scope& scope) {
  NodeId callee = ast_.child(call, Role::callee);
  if (callee == kNoNode) return;
  std::string_view method = ast_[callee].text;
  if (ast_[callee].kind == K::attribute) {
    NodeId object = ast_.child(callee, Role::object);
    if (object == kNoNode || ast_[object].kind != K::name) return;
    if (names_.import_of(ast_[object].text).empty()) {
      if (method == "parameters" || method == "named_parameters" || method == "load_state_dict" ||
          method == "train" || method == "eval" || method == "named_modules" ||
          method == "modules" || method == "zero_grad" || method == "apply" ||
          method == "state_dict") {
        scope.used_as_module.insert(ast_[object].text);
      } else if (is_tensor_only_method(method) && method != "cuda" && method != "share_memory_" &&
                 method != "pin_memory" && method != "storage" && method != "lerp" &&
                 method != "gather" && method != "expand") {
        scope.used_as_tensor.insert(ast_[object].text);
      }
      return;
    }
    // F.relu(x), torch.cat: the first argument is a tensor.
    std::string_view from = names_.import_of(ast_[object].text);
    if (!from.starts_with("torch.nn.functional")) return;
    NodeId first = ast_.child(call, Role::argument);
    if (first != kNoNode && ast_[first].kind == K::name)
      scope.used_as_tensor.insert(ast_[first].text);
  }
}

void Inference::bind_parameters(uint32_t function) {
  const NodeId parameters = ast_.child(outline_.functions[function], Role::parameters);
  if (function == 0 || parameters == kNoNode) return;
  uint32_t index = 0;
  for (NodeId p : children(ast_, parameters)) {
    std::string_view name = ast_[p].text;
    while (name.starts_with('*')) name.remove_prefix(1);
    if (!name.empty()) scopes_[function].variables[name] = parameter_value(function, index, p);
    ++index;
  }
}

Value Inference::parameter_value(uint32_t function, uint32_t index, NodeId parameter) {
  NodeId type = kNoNode, fallback = kNoNode;
  for (NodeId c : children(ast_, parameter)) {
    if (ast_[c].kind == K::type || ast_[c].role == Role::type) type = c;
    if (ast_[c].role == Role::value) fallback = c;
  }
  if (type != kNoNode) {
    Value declared = value_of_type(ast_.slice(type));
    if (declared.kind != Kind::unknown) return declared;
  }
  if (ast_[parameter].text.starts_with('*')) return {};
  const FunctionFacts& facts = facts_.functions[function];
  Value out;
  if (fallback != kNoNode) {
    Value initial = eval(fallback);
    if (initial.kind == Kind::number || initial.kind == Kind::text) out = likely(initial.kind);
  }
  if (index == 0 && !facts.class_name.empty() && facts.parent == kNone) return out;
  // forward(self, x): the first arguments of a module are its input.
  if ((facts.flags & kForward) != 0 && index == 1 && fallback == kNoNode) {
    std::string_view name = ast_[parameter].text;
    if (name == "x" ||
        contains_any(name, {"input", "hidden", "feat", "tensor", "img", "image", "logit"})) {
      return likely(Kind::device_tensor);
    }
  }
  if (out.kind == Kind::unknown) {
    out.dependency = depend(DependencyKind::parameter, {}, function, index);
  }
  return out;
}

uint32_t Inference::depend(DependencyKind kind, std::string name, uint32_t function,
                           uint32_t index) {
  std::string key = std::to_string(static_cast<int>(kind)) + '|' + name + '|' +
                    std::to_string(function) + '|' + std::to_string(index);
  auto [entry, added] = dependency_ids_.try_emplace(
      std::move(key), static_cast<uint32_t>(facts_.dependencies.size() + 1));
  if (added) facts_.dependencies.push_back({kind, std::move(name), function, index});
  return entry->second;
}

const Dependency* Inference::dependency(const Value& value) const {
  return value.dependency == 0 ? nullptr : &facts_.dependencies[value.dependency - 1];
}

void Inference::statements(NodeId id) {
  for (NodeId c : children(ast_, id)) statement(c);
}

void Inference::statement(NodeId id) {
  const Node& node = ast_[id];
  switch (node.kind) {
    case K::function:
      scopes_[function_].variables.erase(node.text);
      return;  // later, with the others
    case K::class_: {
      NodeId body = ast_.child(id, Role::body);
      if (body != kNoNode) statements(body);
      return;
    }
    case K::decorator:
      eval_children(id);
      return;
    case K::import:
    case K::import_from:
    case K::global:
    case K::leave:
      return;
    case K::assign: {
      NodeId target = ast_.child(id, Role::left), source = ast_.child(id, Role::right);
      Value value = source == kNoNode ? Value{} : eval(source);
      if (!node.text.empty()) {
        Value declared = value_of_type(node.text);
        if (declared.kind != Kind::unknown &&
            (value.kind == Kind::unknown ||
             (declared.kind != value.kind && declared.kind != Kind::device_tensor))) {
          value = declared;
        }
      }
      if (target != kNoNode) assign(target, value, source);
      values_[id] = value;
      return;
    }
    case K::aug_assign: {
      NodeId target = ast_.child(id, Role::left), source = ast_.child(id, Role::right);
      if (target == kNoNode) {
        eval_children(id);
        return;
      }
      Value right = source == kNoNode ? proven(Kind::number) : eval(source);
      Value left = eval(target);
      assign(target,
             right.is_device() ? merge(left, right) : (left.kind == Kind::unknown ? right : left),
             source);
      return;
    }
    case K::for_: {
      NodeId over = ast_.child(id, Role::right);
      if (over != kNoNode) eval(over);
      if (ast_.grammar == Grammar::cuda) {
        for (NodeId c : children(ast_, id)) {
          if (ast_[c].role != Role::body && c != over) statement(c);
        }
      }
      bind_loop(id);
      NodeId body = ast_.child(id, Role::body);
      if (body != kNoNode) statement(body);
      NodeId other = ast_.child(id, Role::alternative);
      if (other != kNoNode) statement(other);
      return;
    }
    case K::if_:
    case K::elif_:
    case K::while_: {
      NodeId condition = ast_.child(id, Role::condition);
      if (condition != kNoNode) {
        eval(condition);
        learn_from_test(condition);
      }
      for (NodeId c : children(ast_, id)) {
        if (c != condition) statement(c);
      }
      return;
    }
    case K::with_item: {
      NodeId value = ast_.child(id, Role::value), target = ast_.child(id, Role::left);
      Value v = value == kNoNode ? Value{} : eval(value);
      if (target != kNoNode) assign(target, v.kind == Kind::loader ? v : Value{}, kNoNode);
      return;
    }
    case K::return_:
    case K::yield: {
      NodeId value = ast_.child(id, Role::value);
      Value v = value == kNoNode ? proven(Kind::none) : eval(value);
      FunctionFacts& facts = facts_.functions[function_];
      facts.returns = facts.returns.kind == Kind::unknown && facts.returns.dependency == 0
                          ? v
                          : merge(facts.returns, v);
      values_[id] = v;
      return;
    }
    case K::block:
    case K::else_:
    case K::with_:
    case K::try_:
    case K::except_:
    case K::other:
    case K::module:
      statements(id);
      return;
    default:
      eval(id);
      return;
  }
}

/// isinstance(x, torch.Tensor) tells what x is.
void Inference::learn_from_test(NodeId condition) {
  NodeId call = condition;
  if (ast_[call].kind != K::call || callee_name(ast_, call) != "isinstance") return;
  NodeId what = ast_.child(call, Role::argument);
  if (what == kNoNode || ast_[what].kind != K::name || ast_[what].next == kNoNode) return;
  Value declared = value_of_type(ast_.slice(ast_[what].next));
  if (declared.kind != Kind::unknown) scopes_[function_].variables[ast_[what].text] = declared;
}

void Inference::assign(NodeId target, const Value& value, NodeId source) {
  const Node& node = ast_[target];
  values_[target] = value;
  if (node.kind == K::name) {
    scopes_[function_].variables[node.text] = value;
  } else if (node.kind == K::attribute && is_self(ast_.child(target, Role::object))) {
    uint32_t klass = outline_.class_of[function_];
    for (uint32_t f = function_; klass == kNone && facts_.functions[f].parent != kNone;) {
      f = facts_.functions[f].parent;
      klass = outline_.class_of[f];
    }
    if (klass == kNone) return;
    Value kept = value;
    kept.flags |= kAttribute;
    auto [entry, added] = attributes_[klass].try_emplace(node.text, kept);
    if (!added) entry->second = merge(entry->second, kept);
  } else if (node.kind == K::tuple || node.kind == K::list || node.kind == K::star) {
    assign_tuple(target, value, source);
  } else {
    eval_children(target);
  }
}

void Inference::assign_tuple(NodeId target, const Value& value, NodeId source) {
  const bool literal =
      source != kNoNode && (ast_[source].kind == K::tuple || ast_[source].kind == K::list);
  NodeId from = literal ? ast_[source].first_child : kNoNode;
  for (NodeId part : children(ast_, target)) {
    Value v = literal && from != kNoNode ? values_[from] : element_value(value);
    assign(part, v, literal ? from : kNoNode);
    if (from != kNoNode) from = ast_[from].next;
  }
}

/// What iterating over or unpacking `container` gives.
Value Inference::element_value(const Value& container) const {
  switch (container.kind) {
    case Kind::device_tensor:
    case Kind::mask:
    case Kind::jax_array:
    case Kind::host_tensor:
    case Kind::numpy:
    case Kind::batch: {
      Value out = container;
      out.certainty = std::min(out.certainty, Certainty::likely);
      return out;
    }
    case Kind::tensor_list:
      return likely(Kind::device_tensor, container.flags & (kParameterLoop | kModuleOutput));
    case Kind::parameters:
      return likely(Kind::parameter, kParameterLoop);
    case Kind::parameter:
      return likely(Kind::parameter, kParameterLoop);
    case Kind::shape:
      return likely(Kind::number);
    case Kind::loader:
      return likely(Kind::batch, kLoaded);
    case Kind::list:
      return container.certainty == Certainty::unknown ? Value{} : likely(Kind::other);
    default:
      return {};
  }
}

Value Inference::element_of(const Value& container, NodeId source) {
  if (source != kNoNode && ast_[source].kind == K::call) {
    std::string_view name = callee_name(ast_, source);
    if (name == "range" || name == "trange" || name == "count") return proven(Kind::number);
  }
  return element_value(container);
}

/// Binds the targets of a for statement or a comprehension's for clause.
void Inference::bind_loop(NodeId loop) {
  NodeId target = ast_.child(loop, Role::left), over = ast_.child(loop, Role::right);
  if (target == kNoNode || over == kNoNode) return;
  NodeId inner = over;
  auto first_argument = [&](NodeId call) { return ast_.child(call, Role::argument); };
  std::string_view name =
      ast_[inner].kind == K::call ? callee_name(ast_, inner) : std::string_view();
  while ((name == "tqdm" || name == "track" || name == "list" || name == "islice" ||
          name == "log_every" || name == "iter" || name == "prefetch") &&
         first_argument(inner) != kNoNode) {
    inner = first_argument(inner);
    name = ast_[inner].kind == K::call ? callee_name(ast_, inner) : std::string_view();
  }
  NodeId number = kNoNode, rest = target;
  if (name == "enumerate" && first_argument(inner) != kNoNode && ast_[target].kind == K::tuple) {
    number = ast_[target].first_child;
    rest = number == kNoNode ? kNoNode : ast_[number].next;
    inner = first_argument(inner);
    if (ast_[inner].kind == K::call &&
        (callee_name(ast_, inner) == "tqdm" || callee_name(ast_, inner) == "log_every") &&
        first_argument(inner) != kNoNode) {
      inner = first_argument(inner);
    }
    name = ast_[inner].kind == K::call ? callee_name(ast_, inner) : std::string_view();
  } else if ((name == "items" || name == "named_parameters") && ast_[target].kind == K::tuple) {
    number = ast_[target].first_child;
    rest = number == kNoNode ? kNoNode : ast_[number].next;
  }
  if (number != kNoNode)
    assign(number,
           proven(name == "items" || name == "named_parameters" ? Kind::text : Kind::number),
           kNoNode);
  if (rest == kNoNode) return;
  if (name == "zip" && ast_[rest].kind == K::tuple) {
    NodeId from = first_argument(inner);
    for (NodeId part : children(ast_, rest)) {
      if (from == kNoNode) break;
      Value v = element_of(values_[from], from);
      if (v.kind == Kind::unknown && contains_any(ast_.slice(from), {"param"}))
        v = likely(Kind::parameter, kParameterLoop);
      assign(part, v, kNoNode);
      from = ast_[from].next;
    }
    return;
  }
  Value value = element_of(values_[inner], inner);
  if (value.kind == Kind::unknown) {
    std::string_view text = ast_.slice(inner);
    if (text.size() < 80 && is_loader_name(text))
      value = likely(Kind::batch, kLoaded);
    else if (text.size() < 80 && contains_any(text, {"params", "parameters()"}))
      value = likely(Kind::parameter, kParameterLoop);
  }
  assign(rest, value, kNoNode);
}

uint32_t Inference::local_function(NodeId callee) const {
  if (callee == kNoNode) return kNone;
  const Node& node = ast_[callee];
  auto found = functions_by_name_.find(node.text);
  if (found == functions_by_name_.end()) return kNone;
  if (node.kind == K::name) {
    for (uint32_t f : found->second) {
      if (facts_.functions[f].class_name.empty() || facts_.functions[f].parent != kNone) return f;
    }
    return kNone;
  }
  if (node.kind != K::attribute || !is_self(ast_.child(callee, Role::object))) return kNone;
  const NodeId klass = ast_.ancestor(callee, K::class_);
  for (uint32_t f : found->second) {
    uint32_t c = outline_.class_of[f];
    if (c != kNone && outline_.classes[c] == klass) return f;
  }
  return kNone;
}

NodeId Inference::definition(uint32_t function, std::string_view name, NodeId before) const {
  const NodeId node = outline_.functions[function];
  NodeId found = kNoNode;
  for (NodeId id = node + 1; id < std::min(before, ast_[node].end); ++id) {
    if (ast_[id].kind != K::assign || outline_.function_of[id] != function) continue;
    NodeId left = ast_.child(id, Role::left);
    if (left != kNoNode && ast_[left].kind == K::name && ast_[left].text == name) {
      NodeId right = ast_.child(id, Role::right);
      if (right != kNoNode) found = right;
    }
  }
  return found;
}

bool Inference::is_self(NodeId id) const {
  return id != kNoNode && ast_[id].kind == K::name &&
         (ast_[id].text == "self" || ast_[id].text == "this");
}

bool Inference::method_exists(uint32_t klass, std::string_view name) const {
  auto found = functions_by_name_.find(name);
  return found != functions_by_name_.end() && std::ranges::any_of(found->second, [&](uint32_t f) {
           return outline_.class_of[f] == klass;
         });
}

}  // namespace stallscope
