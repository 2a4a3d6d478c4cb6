#include "source/values/infer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {
using K = NodeKind;
constexpr unsigned kMaxCallDepth = 40;  ///< of own functions evaluated inside one another

}  // namespace

Inference::Inference(const Ast& ast, const Names& names, const Outline& outline, FileFacts& facts,
                     const ClangTypes* types)
    : ast_(ast), names_(names), outline_(outline), facts_(facts), types_(types) {
  values_.resize(ast.size());
  scopes_.resize(facts.functions.size());
  attributes_.resize(facts.classes.size());
  state_.assign(facts.functions.size(), 0);
  parts_vary_.assign(facts.functions.size(), 0);
  for (uint32_t f = 1; f < facts.functions.size(); ++f) {
    functions_by_name_[ast[outline.functions[f]].text].push_back(f);
  }
  for (uint32_t c = 0; c < facts.classes.size(); ++c) {
    classes_by_name_[ast[outline.classes[c]].text] = c;
  }
  const auto says = [&](std::string_view word) { return holds_text(ast.source, word); };
  uses_thrust_ = ast.grammar == Grammar::cuda && says("thrust::");
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::assign) continue;
    NodeId left = ast.child(id, Role::left);
    note_field(id, left);
    if (ast.child(id, Role::right) == kNoNode) continue;
    if (left != kNoNode && ast[left].kind == K::name) definitions_[ast[left].text].push_back(id);
    if (left == kNoNode || ast[left].kind != K::tuple || !names.uses_jax()) continue;
    for (const NodeId part : children(ast, left)) {
      if (ast[part].kind == K::name) unpacked_[ast[part].text].push_back(id);
    }
  }
  has_tensors_ = ast.grammar == Grammar::python || says("torch::") || says("<torch/") ||
                 says("\"torch/") || says("at::Tensor") || says("ATen/") ||
                 (types && std::ranges::find(types->types, TypeClass::tensor, &TypedRange::type) !=
                               types->types.end());
  device_default_ =
      says("set_default_") && (says("set_default_device") || says("set_default_tensor_type"));
}

/// `loss: Tensor`, `device_vector<T> loss;`, `nn::Linear fc{nullptr};` in the body of a class: what
/// two classes say differently is not known.
void Inference::note_field(NodeId declaration, NodeId name) {
  if (name == kNoNode || ast_[name].kind != K::name || ast_[declaration].text.empty()) return;
  const NodeId body = ast_[declaration].parent;
  const NodeId owner = body == kNoNode ? kNoNode : ast_[body].parent;
  if (owner == kNoNode || ast_[owner].kind != K::class_) return;
  const Value declared = declared_value(declaration, name);
  const bool vector = declared.kind == Kind::device_vector || declared.kind == Kind::list;
  const bool known = ast_.grammar == Grammar::cuda
                         ? (uses_thrust_ && vector) || declared.kind == Kind::module
                         : declared.is_device() || declared.kind == Kind::tensor_list;
  auto [entry, added] =
      fields_.try_emplace(ast_[name].text, known ? likely(declared.kind, declared.flags) : Value{});
  if (!added && entry->second.kind != declared.kind) entry->second = {};
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
  // def cuda(self): self.edges = self.edges.cuda()
  for (uint32_t f = 1; f < facts_.functions.size(); ++f) {
    if (outline_.class_of[f] != kNone && is_one_of(facts_.functions[f].name, {"cuda", "_apply"}))
      run_function(f);
  }
  for (uint32_t f = 1; f < facts_.functions.size(); ++f) run_function(f);
}

void Inference::run_function(uint32_t function) {
  if (state_[function] != 0 || depth_ > kMaxCallDepth) return;
  state_[function] = 1;
  ++depth_;
  const uint32_t outer = function_;
  function_ = function;
  // What another function's branches bound is nothing to this one.
  const Alternative around = std::exchange(alternative_, {0, 0, elsewhere_.size()});
  const size_t rebound = rebound_.size();
  find_evidence(function);
  bind_parameters(function);
  const NodeId node = outline_.functions[function];
  if (function == 0) {
    statements(node);
  } else {
    NodeId body = ast_.child(node, Role::body);
    if (body != kNoNode) statements(body);
    const NodeId type = ast_.child(node, Role::type);
    if (type != kNoNode && ast_.grammar == Grammar::python)
      facts_.functions[function].declared = declared_result(ast_.slice(type));
    if (gives_arrays(function)) {
      facts_.functions[function].returns = likely(Kind::jax_array, kJax);
      facts_.functions[function].parts.clear();
    }
  }
  function_ = outer;
  alternative_ = around;
  rebound_.resize(rebound);
  --depth_;
  state_[function] = 2;
}

namespace {

/// lengths[:, None], x[..., None, :]: a variable that is given a dimension; of what a forward pass
/// was given, sizes[:, 1] too: a variable that has several.
bool has_dimensions(const Ast& ast, NodeId subscript, bool as_given) {
  const NodeId object = ast.child(subscript, Role::object);
  if (ast.grammar != Grammar::python || object == kNoNode || ast[object].kind != K::name)
    return false;
  bool adds = false, spans = false;
  unsigned axes = 0;
  for (const NodeId index : children(ast, subscript)) {
    if (index == object) continue;
    adds |= ast[index].kind == K::constant && ast.slice(index) == "None";
    spans |= ast[index].kind == K::slice || ast.slice(index) == "...";
    ++axes;
  }
  return spans && (adds || (as_given && axes > 1));
}

}  // namespace

/// Names on which tensor-only or module-only methods are called anywhere in the function.
void Inference::find_evidence(uint32_t function) {
  Scope& scope = scopes_[function];
  const NodeId node = outline_.functions[function];
  const bool numpy = names_.uses("numpy");
  const bool only_tensors =
      names_.uses("torch") && !numpy && !names_.uses("pandas") && !names_.uses("jax");
  std::vector<std::string_view> widened;
  for (NodeId id = node + 1; id < ast_[node].end; ++id) {
    if (outline_.function_of[id] != function) continue;
    if (numpy && !scope.uses_numpy && ast_[id].kind == K::name &&
        names_.import_of(ast_[id].text) == "numpy")
      scope.uses_numpy = true;
    if (ast_[id].kind == K::call) note_use(id, scope);
    if (ast_[id].kind == K::attribute && ast_[id].text == "device") note_device(id, scope);
    const NodeId object = ast_[id].kind == K::subscript ? ast_.child(id, Role::object) : kNoNode;
    if (object == kNoNode) continue;
    // What is bound again may have been something else before.
    const bool as_given = only_tensors && is_given_to_forward(object) &&
                          definition(function, ast_[object].text, ast_[node].end) == kNoNode;
    if (has_dimensions(ast_, id, as_given)) widened.push_back(ast_[object].text);
  }
  // NumPy's arrays are given dimensions so, too.
  if (!scope.uses_numpy && names_.uses("torch"))
    scope.given_as_tensor.insert(widened.begin(), widened.end());
  // x = x.cuda() before torch.cumsum(x, 0): it was elsewhere. Nor is what a constructor computes
  // with on the device.
  if (facts_.functions[function].name == "__init__") scope.given_as_tensor.clear();
  std::erase_if(scope.given_as_tensor,
                [&](std::string_view name) { return scope.moved.contains(name); });
}

/// engine.backward(loss), booster.backward(loss=loss): the receiver is no tensor.
bool Inference::is_handed_a_loss(NodeId call) const {
  const NodeId first = ast_.child(call, Role::argument);
  return first != kNoNode && ast_.grammar != Grammar::cuda &&
         (ast_[first].kind == K::keyword ? ast_[first].text == "loss"
                                         : contains_any(ast_.slice(first), {"loss"}));
}

void Inference::note_use(NodeId call, Scope& scope) {
  NodeId callee = ast_.child(call, Role::callee);
  if (callee == kNoNode) return;
  std::string_view method = ast_[callee].text;
  if (ast_[callee].kind == K::attribute) {
    if (method == "backward" && is_handed_a_loss(call)) {
      const NodeId first = ast_.child(call, Role::argument);
      const NodeId loss = ast_[first].kind == K::keyword ? ast_[first].first_child : first;
      if (loss != kNoNode && ast_[loss].kind == K::name)
        scope.used_as_tensor.insert(ast_[loss].text);
    }
    NodeId object = ast_.child(callee, Role::object);
    if (object == kNoNode || ast_[object].kind != K::name) return;
    if (names_.import_of(ast_[object].text).empty()) {
      if (method == "parameters" || method == "named_parameters" || method == "load_state_dict" ||
          method == "train" || method == "eval" || method == "named_modules" ||
          method == "modules" || method == "zero_grad" || method == "apply" ||
          method == "state_dict") {
        scope.used_as_module.insert(ast_[object].text);
      } else if (method == "to" || method == "cuda") {
        scope.moved.insert(ast_[object].text);
      } else if (is_tensor_only_method(method) && method != "share_memory_" &&
                 method != "pin_memory" && method != "storage" && method != "lerp" &&
                 method != "gather" && method != "expand" &&
                 (method != "backward" || !is_handed_a_loss(call))) {
        const NodeId within = comprehension_of(object);
        (within == kNoNode ? scope.used_as_tensor : scope.elements_used_as_tensor[within])
            .insert(ast_[object].text);
      } else if (method == "size" && ast_.child(call, Role::argument) != kNoNode) {
        scope.given_as_tensor.insert(ast_[object].text);  // NumPy's size is no method
      } else if (method == "cpu" && is_given_to_forward(object) && is_asked_as_tensor(object)) {
        scope.given_as_tensor.insert(ast_[object].text);  // pack_padded_sequence(x, lengths.cpu())
      }
      return;
    }
    // F.relu(x), torch.cumsum(x, 0): the first argument is a tensor.
    std::string_view from = names_.import_of(ast_[object].text);
    if (!from.starts_with("torch.nn.functional") &&
        !(from == "torch" && takes_tensor_first(names_.resolve(callee).path)))
      return;
    NodeId first = ast_.child(call, Role::argument);
    if (first != kNoNode && ast_[first].kind == K::name)
      (from == "torch" ? scope.given_as_tensor : scope.used_as_tensor).insert(ast_[first].text);
  }
}

/// The comprehension that binds the variable which `name` names, or kNoNode.
NodeId Inference::comprehension_of(NodeId name) const {
  for (NodeId at = ast_[name].parent; at != kNoNode; at = ast_[at].parent) {
    const K kind = ast_[at].kind;
    if (kind == K::function || kind == K::block) return kNoNode;
    if (kind != K::comprehension) continue;
    for (const NodeId bound : names_bound_by(ast_, at)) {
      if (ast_[bound].text == ast_[name].text) return at;
    }
  }
  return kNoNode;
}

/// Whether a variable of that name is a tensor where it is asked for its device, or for a copy on
/// the host: trainers and batches are asked so, too.
bool Inference::is_asked_as_tensor(NodeId object) const {
  const std::string_view name = ast_[object].text;
  return ast_.grammar == Grammar::python && names_.import_of(name).empty() && !is_self(object) &&
         !is_model_name(name) && !name.ends_with("_id") &&
         !contains_any(name, {"arg",    "cfg",    "conf", "accel", "fabric", "train",   "env",
                              "agent",  "engine", "opt",  "param", "ctx",    "context", "state",
                              "runner", "batch",  "data", "graph", "pipe",   "model",   "work",
                              "hook",   "cls",    "info", "spec",  "setup",  "device",  "sample",
                              "rank",   "mesh",   "dist", "layer", "gpu",    "conn",    "client"});
}

/// Whether a name is that of a parameter of a module's forward pass.
bool Inference::is_given_to_forward(NodeId name) const {
  const FunctionFacts& function = facts_.functions[outline_.function_of[name]];
  return (function.flags & kForward) != 0 &&
         std::ranges::find(function.parameters, ast_[name].text) != function.parameters.end();
}

/// torch.arange(n, device=lengths.device)
void Inference::note_device(NodeId attribute, Scope& scope) {
  const NodeId object = ast_.child(attribute, Role::object);
  if (object == kNoNode || ast_[object].kind != K::name || !is_asked_as_tensor(object)) return;
  scope.given_as_tensor.insert(ast_[object].text);
}

/// Layer layer; const Layer& layer; std::unique_ptr<Layer> layer: C++ says whose methods are
/// called. Where PyTorch is not used, Tensor is a class of the program's own.
void Inference::declare(Value& value, std::string_view type) {
  if (ast_.grammar != Grammar::cuda || (value.kind != Kind::unknown && has_tensors_)) return;
  const std::string_view name = declared_class(type);
  if (!name.empty()) value.dependency = depend(DependencyKind::instance, std::string(name));
}

/// Buffer buffer(64, 10), Buffer buffer{n}: what it is built from is not what it is.
bool Inference::is_built_from(NodeId target, NodeId source) const {
  if (ast_.grammar != Grammar::cuda || ast_[source].first_byte < ast_[target].last_byte)
    return false;
  const std::string_view between =
      ast_.source.substr(ast_[target].last_byte, ast_[source].first_byte - ast_[target].last_byte);
  return between.find('=') == std::string_view::npos;
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
      if (target != kNoNode && source != kNoNode && is_built_from(target, source)) value = {};
      if (value.kind == Kind::unknown && source != kNoNode && runs_made_step(source, value))
        value = likely(Kind::jax_array, kJax);
      if (!node.text.empty()) {
        const Value declared = declared_value(id, target);
        if (declared.kind != Kind::unknown &&
            (value.kind == Kind::unknown ||
             (declared.kind != value.kind && declared.kind != Kind::device_tensor))) {
          value = declared;
        }
        if (value.dependency == 0) declare(value, node.text);
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
      // x /= world_size says nothing about x; of what a caller hands in for both, x is known by x.
      const bool scales =
          node.text != "+=" && node.text != "-=" &&
          (right.kind == Kind::number || (right.kind == Kind::unknown && left.dependency != 0));
      // total = 0.0 and total += loss_of(x): a number as long as only numbers are added.
      const bool adds = ast_.grammar == Grammar::python && left.kind == Kind::number &&
                        right.kind == Kind::unknown && (node.text == "+=" || node.text == "-=");
      const bool takes_over = (left.kind == Kind::unknown && !scales) || adds;
      assign(target, right.is_device() ? merge(left, right) : takes_over ? right : left, source);
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
      if (condition == kNoNode) return run_branches(id);
      eval(condition);
      const NodeId array = asked_for_array(id, condition);
      const Value handed = array == kNoNode ? Value{} : values_[array];
      learn_from_test(condition);
      run_branches(id);
      if (array == kNoNode) return;
      Value& now = scopes_[function_].variables[ast_[array].text];
      if (now.kind == Kind::host_tensor) now = handed;
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
                          : of_both(facts.returns, v, merge(facts.returns, v));
      if (value != kNoNode && ast_[id].kind == K::return_) {
        return_parts(value);
        return_entries(value);
      }
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

uint32_t Inference::own_function(NodeId callee) const {
  const uint32_t local = local_function(callee);
  if (local != kNone || callee == kNoNode || ast_.grammar != Grammar::cuda ||
      ast_[callee].kind != K::name)
    return local;
  const std::string& klass = facts_.functions[outline_.function_of[callee]].class_name;
  const std::string_view name = ast_[callee].text;
  // Inside the class, or Strategy::is_refining() beside it.
  for (const std::string& text : {std::string(name), klass + "::" + std::string(name)}) {
    const auto found = functions_by_name_.find(text);
    if (klass.empty() || found == functions_by_name_.end()) continue;
    for (const uint32_t f : found->second) {
      if (facts_.functions[f].class_name == klass) return f;
    }
  }
  return kNone;
}

bool Inference::is_host_device(uint32_t function, std::string_view text) const {
  if (is_cpu(text)) return true;
  const auto known = definitions_.find(text);
  const auto& parameters = facts_.functions[function].parameters;
  if (known == definitions_.end() || std::ranges::find(parameters, text) != parameters.end())
    return false;
  return std::ranges::all_of(known->second, [&](NodeId assignment) {
    const NodeId value = ast_.child(assignment, Role::right);
    // config.get("device", "cpu"): what the file says is used
    const bool by_default =
        value != kNoNode && ast_[value].kind == K::call && callee_name(ast_, value) == "get";
    return value != kNoNode && ast_[value].kind != K::name && !by_default &&
           is_cpu(ast_.slice(value));
  });
}

NodeId Inference::definition(uint32_t function, std::string_view name, NodeId before) const {
  auto known = definitions_.find(name);
  if (known == definitions_.end()) return kNoNode;
  for (auto at = std::ranges::lower_bound(known->second, before); at != known->second.begin();) {
    --at;
    if (outline_.function_of[*at] == function && !ast_.are_apart(*at, before))
      return ast_.child(*at, Role::right);
  }
  return kNoNode;
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
