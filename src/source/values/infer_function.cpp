// Inference over functions: what they are handed and what they give back.
#include <algorithm>
#include <utility>

#include "source/names/roles.h"
#include "source/names/training_state.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {
using K = NodeKind;

/// Whether a parameter is a batch that Lightning or the Hugging Face trainer has moved already:
/// training_step(self, batch, batch_idx), compute_loss(self, model, inputs).
bool is_moved_by_framework(const FunctionFacts& function, uint32_t index) {
  const std::vector<std::string>& names = function.parameters;
  if (index >= names.size()) return false;
  return names[index] == "batch"
             ? index == 1 && std::ranges::find(names, "batch_idx") != names.end()
             : index == 2 && names[index] == "inputs" && names[1] == "model" &&
                   (function.name == "compute_loss" || function.name == "training_step");
}

/// "Buffer" of `Buffer`, `'buffers.Buffer'`, `Optional[Buffer]` and `Buffer | None`.
std::string_view annotated_class(std::string_view type) {
  if (const size_t open = type.find("Optional["); open != std::string_view::npos)
    type = type.substr(open + 9, type.size() > open + 10 ? type.size() - open - 10 : 0);
  if (type.ends_with("| None")) type.remove_suffix(6);
  while (!type.empty() && (type.back() == ' ' || type.back() == '"' || type.back() == '\''))
    type.remove_suffix(1);
  while (!type.empty() && (type.front() == '"' || type.front() == '\'')) type.remove_prefix(1);
  if (type.find_first_of("[]|, ") != std::string_view::npos) return {};
  const std::string_view last = last_component(type);
  return is_class_like(last) ? last : std::string_view();
}

}  // namespace

void Inference::bind_parameters(uint32_t function) {
  const NodeId parameters = ast_.child(outline_.functions[function], Role::parameters);
  if (function == 0 || parameters == kNoNode) return;
  uint32_t index = 0;
  for (NodeId p : children(ast_, parameters)) {
    std::string_view name = ast_[p].text;
    while (name.starts_with('*')) name.remove_prefix(1);
    if (!name.empty()) {
      Value value = parameter_value(function, index, p);
      for (NodeId c : children(ast_, p)) {
        if (ast_[c].kind == K::name && ast_[c].text == name) value = typed(c, value);
      }
      scopes_[function].variables[name] = value;
    }
    ++index;
  }
}

Value Inference::parameter_value(uint32_t function, uint32_t index, NodeId parameter) {
  NodeId type = kNoNode, fallback = kNoNode;
  for (NodeId c : children(ast_, parameter)) {
    if (ast_[c].kind == K::type || ast_[c].role == Role::type) type = c;
    if (ast_[c].role == Role::value) fallback = c;
  }
  // send_to_device(batch, device): what is handed in is on the host.
  const FunctionFacts& facts = facts_.functions[function];
  const bool method = !facts.class_name.empty() && facts.parent == kNone && facts.takes_self();
  if (index == (method ? 1u : 0u) && moves_data(facts_.functions[function].name) &&
      !contains_any(ast_[parameter].text, {"model", "module", "optim", "state", "cfg", "config"})) {
    depend(DependencyKind::parameter, {}, function, index);  // what callers made is theirs
    return likely(Kind::batch, kLoaded);
  }
  if (type != kNoNode) {
    Value declared = declared_value(ast_.slice(type));
    if (declared.kind == Kind::device_vector &&
        ast_.slice(parameter).find('*') != std::string_view::npos)
      declared = {};
    declare(declared, ast_.slice(type));
    // step(x: Tensor): a tensor, of which only callers know whether it is a batch.
    if (declared.kind == Kind::device_tensor && declared.dependency == 0)
      declared.dependency = depend(DependencyKind::parameter, {}, function, index);
    if (declared.kind != Kind::unknown || declared.dependency != 0) return declared;
    const std::string_view klass = annotated_class(ast_.slice(type));
    if (ast_.grammar == Grammar::python && !klass.empty()) {
      std::vector<std::string>& types = facts_.functions[function].parameter_types;
      if (types.size() <= index) types.resize(index + 1);
      types[index] = klass;
    }
  }
  // def write(self, step, **scalars); of PyTorch's programs these are options, mostly
  if (ast_[parameter].text.starts_with("**") && (names_.uses_jax() || !names_.uses("torch")))
    return depending_on(depend(DependencyKind::parameter, {}, function, index));
  if (ast_[parameter].text.starts_with('*')) return {};
  if (method && is_moved_by_framework(facts, index))
    return likely(Kind::tensor_list, kModuleOutput);
  Value out;
  if (is_size_name(ast_[parameter].text)) return likely(Kind::number);
  if (ast_[parameter].text.ends_with("_shape")) return likely(Kind::shape);
  if (fallback != kNoNode) {
    Value initial = eval(fallback);
    if (initial.kind == Kind::number || initial.kind == Kind::text) out = likely(initial.kind);
  }
  if (index == 0 && method) return out;
  // forward(self, x): the first arguments of a module are its input.
  // input_ids=None, token_type_ids=None, but not token_config=None, nor the target=None of what
  // turns images on the host
  const bool wanted =
      fallback == kNoNode || (ast_.slice(fallback) == "None" &&
                              !contains_any(ast_[parameter].text, {"cfg", "config", "func", "proc",
                                                                   "mode", "class", "target"}) &&
                              names_.uses("torch"));
  // backward(ctx, grad) of an operation of PyTorch's: gradients
  if ((facts.flags & kForward) != 0 && index >= 1 && facts.name == "backward" &&
      ast_.grammar == Grammar::python)
    return likely(Kind::device_tensor);
  // a network of NumPy's alone is on the host
  const bool of_numpy = ast_.grammar == Grammar::python && names_.uses("numpy") &&
                        !names_.uses("torch") && !names_.uses_jax() && !names_.uses("cupy");
  if ((facts.flags & kForward) != 0 && index >= 1 && wanted && !of_numpy) {
    std::string_view name = ast_[parameter].text;
    if (name == "x" ||
        (!contains_any(name, {"batch"}) && !is_count_name(name) &&
         contains_any(name, {"input", "hidden", "feat", "tensor", "img", "image", "logit", "label",
                             "target", "mask", "embed", "token", "_ids", "score", "pred"}))) {
      return likely(Kind::device_tensor);
    }
  }
  if (out.kind == Kind::unknown) {
    out.dependency = depend(DependencyKind::parameter, {}, function, index);
  }
  return out;
}

/// What a call of this file's `function` gives, where it is called by `name`.
Value Inference::given_by(uint32_t function, std::string name) {
  run_function(function);
  const FunctionFacts& facts = facts_.functions[function];
  // Its parameters mean nothing to its caller; what they stand for is decided at the link.
  const bool mapping = facts.returns.kind == Kind::list && !facts.entries.empty();
  if (facts.returns.kind == Kind::unknown || mapping)
    return depending_on(depend(DependencyKind::returns, std::move(name)));
  return facts.returns;
}

bool Inference::returns_once(uint32_t function) const {
  const NodeId body = outline_.functions[function];
  unsigned returns = 0;
  for (NodeId at = body; at < ast_[body].end; ++at)
    returns += ast_[at].kind == NodeKind::return_ ? 1 : 0;
  return returns == 1;
}

/// Whether a function is compiled by JAX or differentiated: it gives arrays, or trees of them.
bool Inference::gives_arrays(uint32_t function) const {
  if (!names_.uses_jax()) return false;
  if ((facts_.functions[function].flags & kJitCompiled) != 0) return true;
  const NodeId whole = ast_[outline_.functions[function]].parent;
  if (ast_[whole].kind != K::other) return false;  // nothing decorates it
  for (const NodeId d : children(ast_, whole)) {
    const NodeId by = ast_[d].kind == K::decorator ? decorated_by(ast_, d) : kNoNode;
    if (by != kNoNode && gives_gradients(names_.resolve(by).path)) return true;
  }
  return false;
}

/// Whether only those who call this function, or what it calls, know what a value is.
bool Inference::is_of_callers(const Value& value) const {
  const Dependency* from = dependency(value);
  return value.kind == Kind::unknown && from &&
         (from->kind == DependencyKind::parameter || from->kind == DependencyKind::element ||
          from->kind == DependencyKind::part || from->kind == DependencyKind::entry);
}

/// Whether a value is an object of a class that the program defines, as far as this file tells.
bool Inference::is_own_kind_of_object(const Value& value) const {
  const Dependency* from = dependency(value);
  if (!from || ast_.grammar != Grammar::python ||
      (value.kind != Kind::unknown && value.kind != Kind::module))
    return false;
  if (from->kind == DependencyKind::instance) return true;
  if (from->by_call()) return !is_library_root(first_component(from->name));
  if (from->kind != DependencyKind::parameter) return false;
  const std::vector<std::string>& types = facts_.functions[from->function].parameter_types;
  return from->parameter < types.size() && !types[from->parameter].empty();
}

/// loss = agent.update(batch): what the link finds in the class of `object`; unknown where that is
/// none of the program's.
Value Inference::given_by_method(const Value& object, std::string_view name) {
  // loss, state = trainer.train_step(batch) of JAX: arrays, where the link finds no such method
  const bool steps = object.kind == Kind::unknown && names_.uses_jax() && names_training_step(name);
  if (steps && object.dependency == 0) return likely(Kind::jax_array, kJax);
  return steps || is_own_kind_of_object(object)
             ? depending_on(depend(DependencyKind::method, std::string(name), object.dependency))
             : Value{};
}

/// state, metrics = train_step(state, batch); metrics["loss"]: what the step gives tells. Records
/// of PyTorch's tensors hold numbers, too, so there only what callers hand in tells, of lengths[0].
uint32_t Inference::part_of_given(NodeId subscript) {
  if (const uint32_t entry = entry_of_given(subscript); entry != 0) return entry;
  const NodeId object = ast_.child(subscript, Role::object);
  const NodeId index = ast_.child(subscript, Role::index);
  if (object == kNoNode || ast_.grammar != Grammar::python) return 0;
  const Dependency* from = dependency(values_[object]);
  if (!from || values_[object].kind != Kind::unknown) return 0;
  const bool given =
      names_.uses("torch")
          ? index != kNoNode && ast_[index].kind != K::string &&
                (from->kind == DependencyKind::parameter || from->kind == DependencyKind::derived)
          : from->kind == DependencyKind::returns || from->kind == DependencyKind::part ||
                from->kind == DependencyKind::element;
  return given ? depend(DependencyKind::element, {}, values_[object].dependency, 0) : 0;
}

/// return loss, accuracy: what each of them is, for those who unpack them.
void Inference::return_parts(NodeId value) {
  std::vector<Value>& parts = facts_.functions[function_].parts;
  uint8_t& vary = parts_vary_[function_];
  if (vary != 0 || ast_.grammar != Grammar::python || values_[value].kind == Kind::none) return;
  std::vector<Value> given;
  bool whole = ast_[value].kind == K::tuple;
  for (NodeId c = ast_[value].first_child; whole && c != kNoNode; c = ast_[c].next) {
    whole = ast_[c].kind != K::star;
    given.push_back(values_[c]);
  }
  if (!whole || (!parts.empty() && parts.size() != given.size())) {
    vary = 1;
    parts.clear();
    return;
  }
  for (size_t i = 0; i < parts.size(); ++i)
    given[i] = of_both(parts[i], given[i], merge(parts[i], given[i]));
  parts = std::move(given);
}

}  // namespace stallscope
