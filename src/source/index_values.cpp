// What a value is that depends on other functions: what they return, what their callers hand in,
// and what mappings hold under a name. One file cannot know that; the linked project does.
#include <functional>
#include <optional>

#include "source/index.h"
#include "source/names/roles.h"

namespace stallscope {
namespace {

/// Methods that give an array where they are called on one, or on a record of such.
bool gives_array(std::string_view method) {
  return is_one_of(
      method, {"max",  "min",     "mean",   "sum",  "std",       "var",     "any",     "all",
               "prod", "argmax",  "argmin", "take", "transpose", "clip",    "reshape", "astype",
               "copy", "squeeze", "pop",    "get",  "ravel",     "flatten", "round",   "cumsum"});
}

}  // namespace

/// A value with what other functions return or hand in filled in.
Value SourceIndex::resolved(size_t file, const Value& value, unsigned hops) const {
  if (value.kind != Kind::unknown || value.dependency == 0 || hops == 0) return value;
  const FileFacts& facts = *files_[file];
  if (value.dependency > facts.dependencies.size()) return {};
  const Dependency& on = facts.dependencies[value.dependency - 1];
  if (on.kind == DependencyKind::parameter)
    return of_parameter(graph_->id_of(file, on.function), on.parameter, hops - 1);
  if (on.kind == DependencyKind::derived)
    return resolved(file, depending_on(on.function), hops - 1);
  if (on.kind == DependencyKind::element)
    return element_of(resolved(file, depending_on(on.function), hops - 1));
  if (on.kind == DependencyKind::either) {
    const auto [a, b] = on.both();
    const Value one = resolved(file, depending_on(a), hops - 1);
    return one.kind != Kind::unknown ? one : resolved(file, depending_on(b), hops - 1);
  }
  if (on.kind == DependencyKind::part) {
    if (on.function == 0 || on.function > facts.dependencies.size()) return {};
    const Value whole = depending_on(on.function);
    return of_targets(file, facts.dependencies[on.function - 1], [&](FunctionId target) {
      const std::vector<Value>& parts = graph_->function(target).parts;
      const size_t in = graph_->file_index(target);
      return on.parameter < parts.size() ? resolved(in, parts[on.parameter], hops - 1)
                                         : element_of(resolved(file, whole, hops - 1));
    });
  }
  if (on.kind == DependencyKind::entry) return entry_of(file, on.function, on.name, hops);
  if (!on.by_call()) return {};
  // agent.values(x).max(): of an array of JAX, it is one
  if (on.kind == DependencyKind::method && gives_array(on.name)) {
    const Value array = resolved(file, depending_on(on.function), hops - 1);
    if (array.kind == Kind::jax_array) return element_of(array);
  }
  return of_targets(file, on, [&](FunctionId target) {
    const FunctionFacts& f = graph_->function(target);
    const Value v = resolved(graph_->file_index(target), f.returns, hops - 1);
    // What is declared as a tensor is no number, and where one is only inference knows.
    const bool vague = v.kind == Kind::unknown || v.kind == Kind::number || v.kind == Kind::none;
    return vague && f.declared.kind != Kind::unknown ? f.declared : v;
  });
}

/// metrics["loss"] of metrics = evaluate(x), or whatever that holds: what the function puts there,
/// or the callers of a function that is handed the mapping.
Value SourceIndex::entry_of(size_t file, uint32_t mapping, std::string_view key,
                            unsigned hops) const {
  if (hops == 0) return {};
  const Value whole = resolved(file, depending_on(mapping), hops - 1);
  if (whole.kind == Kind::tensor_dict) return likely(Kind::device_tensor);
  if (whole.kind == Kind::jax_array || whole.kind == Kind::batch) return element_of(whole);
  const Dependency* const given = files_[file]->dependency(mapping);
  if ((whole.kind != Kind::unknown && whole.kind != Kind::list) || !given) return {};
  if (given->kind == DependencyKind::parameter)
    return of_callers(graph_->id_of(file, given->function), given->parameter,
                      [&](size_t by, const Value& argument) {
                        return entry_of(by, argument.dependency, key, hops - 1);
                      });
  if (!given->by_call()) return {};
  const uint32_t hash = name_hash(key);
  return of_targets(file, *given, [&](FunctionId target) {
    Value any;
    for (const auto& [name, value] : graph_->function(target).entries) {
      if (key != "*" && name != hash) continue;
      any = resolved(graph_->file_index(target), value, hops - 1);
      if (key != "*" || any.is_device()) return any;
    }
    return key == "*" ? Value{} : any;
  });
}

/// What the functions that a dependency names give, each as `value_of` says.
Value SourceIndex::of_targets(size_t file, const Dependency& on,
                              const std::function<Value(FunctionId)>& value_of) const {
  const FileFacts& facts = *files_[file];
  Value out;
  bool first = true;
  const CallForm form = on.name.starts_with("self.") ? CallForm::self_method : CallForm::function;
  std::string_view klass;
  // "Class.method" of this file.
  std::vector<FunctionId> targets;
  for (uint32_t f = 1; on.kind != DependencyKind::method && f < facts.functions.size(); ++f) {
    if (facts.functions[f].qualified == on.name) targets.push_back(graph_->id_of(file, f));
  }
  if (on.kind == DependencyKind::method)
    targets = graph_->methods_given(file, on.function, on.name);
  else if (targets.empty())
    targets = graph_->resolve(file, on.name, form, graph_->id_of(file, on.function), klass);
  // JAX: loss, state = trainer.train_step(state, batch) of a function that another one compiled
  if (targets.empty() && names_training_step(last_component(on.name)) && uses_jax(facts))
    return likely(Kind::jax_array);
  for (FunctionId target : targets) {
    const Value v = value_of(target);
    out = first ? v : merge(out, v);
    first = false;
  }
  return out;
}

Value SourceIndex::of_parameter(FunctionId function, uint32_t parameter, unsigned hops) const {
  if (hops == 0) return {};
  return of_callers(function, parameter, [&](size_t file, const Value& argument) {
    return resolved(file, argument, hops - 1);
  });
}

/// What the callers of a function hand in, each as `value_of` says of the argument in its file.
Value SourceIndex::of_callers(FunctionId function, uint32_t parameter,
                              const std::function<Value(size_t, const Value&)>& value_of) const {
  if (parameter >= graph_->function(function).parameters.size()) return {};
  std::optional<Value> by_all, by_steps;
  const auto add = [](std::optional<Value>& to, const Value& v) { to = to ? merge(*to, v) : v; };
  const auto add_call = [&](const Edge& edge, bool to_module = false) {
    if (edge.call->form == CallForm::reference) return;
    Value v = value_of(graph_->file_index(edge.from), graph_->argument(edge, parameter));
    // What a loader gave was moved on its way, as far as a module could use it.
    if (to_module && (v.kind == Kind::batch || v.kind == Kind::host_tensor)) v = {};
    add(by_all, v);
    if ((contexts_->at(edge.from, edge.loop) & (kInStep | kInForward)) != 0) add(by_steps, v);
  };
  for (uint32_t e : graph_->callers(function)) add_call(graph_->edges()[e]);
  for (const Edge& edge : graph_->applications(function)) add_call(edge, true);
  // What a demonstration hands in says less than what the steps do; that it lies on the host there
  // says nothing of them.
  if (by_steps && (by_steps->kind != Kind::unknown || by_all->is_host())) return *by_steps;
  return by_all.value_or(Value{});
}

}  // namespace stallscope
