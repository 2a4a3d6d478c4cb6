// Whose methods are called: the classes that a value may be an object of, across functions.
#include <algorithm>

#include "source/link/call_graph.h"
#include "source/names/names.h"

namespace stallscope {
namespace {

constexpr unsigned kMakersFollowed = 6;  ///< functions that hand an object on
constexpr unsigned kMostValues = 128;    ///< that are looked at for one call
constexpr size_t kMostClasses = 16;      ///< of what one name may stand for
constexpr size_t kMostTargets = 32;      ///< methods that one call may run

/// def write(step, **scalars) and write(n, loss=loss): a record of what no other parameter takes,
/// of the kind of the first that says anything.
Value rest_of_names(const Edge& edge, const FunctionFacts& to) {
  for (const auto& [name, value] : edge.call->arguments) {
    const bool position = name.find_first_not_of("0123456789") == std::string::npos;
    if (position || std::ranges::find(to.parameters, name) != to.parameters.end()) continue;
    return value.kind == Kind::device_tensor ? likely(Kind::tensor_dict) : value;
  }
  return {};
}

}  // namespace

Value CallGraph::argument(const Edge& edge, uint32_t parameter) const {
  const FunctionFacts& f = function(edge.to);
  // Python's methods are given `self` first, but for static ones.
  const bool method = !f.class_name.empty() && f.parent == kNone && f.takes_self() &&
                      file(edge.to).language == "python";
  const uint32_t position = method && parameter > 0 ? parameter - 1 : parameter;
  Value out;
  if (f.parameters[parameter].starts_with("**")) return rest_of_names(edge, f);
  for (const auto& [name, value] : edge.call->arguments) {
    if (name == f.parameters[parameter] || name == std::to_string(position)) out = value;
  }
  return out;
}

bool CallGraph::makes_its_objects(std::string_view class_name) const {
  return !classes_.named(class_name).empty() && !remade_.contains(class_name);
}

bool CallGraph::is_open(size_t file, const CallFacts& call) const {
  if (files_[file]->language != "python" || call.form != CallForm::method || call.receiver == 0)
    return false;
  const Dependency& on = files_[file]->dependencies[call.receiver - 1];
  return on.kind == DependencyKind::parameter || on.kind == DependencyKind::either ||
         on.kind == DependencyKind::function ||
         (on.kind == DependencyKind::returns && !makes_its_objects(last_component(on.name)));
}

/// Adds the classes that a file means by a name.
bool CallGraph::add_named(size_t file, std::string_view name, Classes& out) const {
  for (const ClassPlace& klass : classes_.visible(name, static_cast<uint32_t>(file))) {
    if (std::ranges::find(out.found, klass) == out.found.end()) out.found.push_back(klass);
  }
  return out.found.size() <= kMostClasses;
}

/// Adds the classes of what callers hand in for a parameter, or what its annotation names.
bool CallGraph::add_given(FunctionId in, uint32_t parameter, unsigned hops, Classes& out) const {
  const FunctionFacts& f = function(in);
  if (parameter < f.parameter_types.size() && !classes_.named(f.parameter_types[parameter]).empty())
    return add_named(where_[in].first, f.parameter_types[parameter], out);
  bool all = !callers_.of(in).empty() && parameter < f.parameters.size();
  for (const uint32_t e : callers_.of(in)) {
    const Edge& edge = edges_[e];
    if (!all && (out.found.size() > kMostClasses || out.looked_at >= kMostValues)) break;
    if (edge.call->form == CallForm::reference || parameter >= f.parameters.size()) {
      all = false;
      continue;
    }
    const Value given = argument(edge, parameter);
    all = add_classes(where_[edge.from].first, given.dependency, hops, out) && all;
  }
  return all;
}

/// The functions that gave a value; of a method, as far as the classes of its object are found.
std::vector<FunctionId> CallGraph::makers(size_t file, const Dependency& on, unsigned hops,
                                          Classes& out) const {
  if (on.kind == DependencyKind::method) {
    Classes owners{.looked_at = out.looked_at};
    add_classes(file, on.function, hops, owners);
    out.looked_at = owners.looked_at;
    return methods_of_all(owners, on.name);
  }
  if (on.kind != DependencyKind::returns) return {};
  const bool own = on.name.starts_with("self.");
  return resolve(file, on.name, own ? CallForm::self_method : CallForm::function,
                 id_of(file, on.function), {});
}

/// Adds the classes of a value, or the functions that it is; false if it may be something else too.
bool CallGraph::add_classes(size_t file, uint32_t dependency, unsigned hops, Classes& out) const {
  if (dependency == 0 || hops == 0 || dependency > files_[file]->dependencies.size() ||
      out.looked_at++ >= kMostValues)
    return false;
  const Dependency& on = files_[file]->dependencies[dependency - 1];
  const FunctionId in = id_of(file, on.function);
  switch (on.kind) {
    case DependencyKind::instance:
      return add_named(file, last_component(on.name), out);
    case DependencyKind::parameter:
      return add_given(in, on.parameter, hops - 1, out);
    case DependencyKind::either: {
      const auto [a, b] = on.both();
      const bool first = add_classes(file, a, hops - 1, out);
      return add_classes(file, b, hops - 1, out) && first;
    }
    case DependencyKind::function: {
      const std::vector<FunctionId> meant = resolve(file, on.name, CallForm::function, in, {});
      out.functions.insert(out.functions.end(), meant.begin(), meant.end());
      return !meant.empty();
    }
    case DependencyKind::returns:
    case DependencyKind::method: {
      if (on.kind == DependencyKind::returns && makes_its_objects(last_component(on.name)))
        return add_named(file, last_component(on.name), out);
      const std::vector<FunctionId> made_by = makers(file, on, hops - 1, out);
      bool all = !made_by.empty();
      for (const FunctionId id : made_by)
        all = add_classes(where_[id].first, function(id).returns.dependency, hops - 1, out) && all;
      return all;
    }
    case DependencyKind::part: {
      // model, optimizer = build(config)
      const std::vector<Dependency>& known = files_[file]->dependencies;
      if (on.function == 0 || on.function > known.size()) return false;
      const std::vector<FunctionId> made_by = makers(file, known[on.function - 1], hops - 1, out);
      bool all = !made_by.empty();
      for (const FunctionId id : made_by) {
        const std::vector<Value>& parts = function(id).parts;
        all = on.parameter < parts.size() &&
              add_classes(where_[id].first, parts[on.parameter].dependency, hops - 1, out) && all;
      }
      return all;
    }
    case DependencyKind::element:
    case DependencyKind::entry:
    case DependencyKind::derived:
    case DependencyKind::none:
      break;
  }
  return false;
}

/// What a method runs on an object that other functions made or handed in.
std::vector<FunctionId> CallGraph::open_targets(size_t file, const CallFacts& call) const {
  std::vector<FunctionId> out;
  const bool called = call.name == "__call__";
  if (!called && !by_name_.contains(std::string_view(call.name))) return out;
  Classes classes;
  bool all = add_classes(file, call.receiver, kMakersFollowed, classes);
  if (classes.found.size() > kMostClasses) classes.found.clear();
  for (const ClassPlace& klass : classes.found) {
    const std::vector<FunctionId>& found = methods_of(klass, call.name, CallForm::method);
    // A batch of the trainer has what the trainer has not.
    all = all && !found.empty();
    for (const FunctionId id : found) {
      if (takes(id, call.given) && std::ranges::find(out, id) == out.end()) out.push_back(id);
    }
  }
  if (called) out.insert(out.end(), classes.functions.begin(), classes.functions.end());
  if (out.size() > kMostTargets) out.clear();
  if (all && !out.empty()) return out;
  for (const FunctionId id : resolve(file, call.name, call.form, id_of(file, call.function), {},
                                     call.given, call.object)) {
    if (std::ranges::find(out, id) == out.end()) out.push_back(id);
  }
  return out;
}

/// self.encoder(x), model(x): the forward passes of the classes that the object may be of.
void CallGraph::add_applications(size_t file, const CallFacts& call, std::vector<Edge>& out) const {
  Classes classes;
  add_classes(file, call.receiver, kMakersFollowed, classes);
  add_calls(file, call, methods_of_all(classes, "forward"), out);
}

std::vector<FunctionId> CallGraph::methods_given(size_t file, uint32_t dependency,
                                                 std::string_view name) const {
  Classes classes;
  add_classes(file, dependency, kMakersFollowed, classes);
  return methods_of_all(classes, name);
}

/// The methods of that name of all these classes; none where there are too many to tell.
std::vector<FunctionId> CallGraph::methods_of_all(const Classes& classes,
                                                  std::string_view name) const {
  std::vector<FunctionId> out;
  if (classes.found.size() > kMostClasses) return out;
  for (const ClassPlace& klass : classes.found) {
    for (const FunctionId id : methods_of(klass, name, CallForm::method)) {
      if (std::ranges::find(out, id) == out.end()) out.push_back(id);
    }
  }
  if (out.size() > kMostTargets) out.clear();
  return out;
}

/// Whether a function holds a backward pass or an update itself.
bool CallGraph::takes_steps(FunctionId id) const {
  return (function(id).flags & kStepEvidence) != 0 ||
         std::ranges::any_of(file(id).loops, [&](const LoopFacts& loop) {
           return loop.function == where_[id].second && (loop.backward || loop.optimizer_step);
         });
}

/// Whether methods of one name do one thing: of all agents, train_policy() takes a step; for
/// callback in callbacks: callback.on_step(), all that derives from one class of the project.
bool CallGraph::are_alike(std::span<const FunctionId> methods) const {
  constexpr size_t kMostAlike = 48;
  if (methods.empty() || methods.size() > kMostAlike) return false;
  if (std::ranges::all_of(methods, [&](FunctionId id) { return takes_steps(id); })) return true;
  const std::string_view root = root_class(function(methods.front()).class_name);
  return std::ranges::all_of(methods, [&](FunctionId id) {
    return !function(id).class_name.empty() && root_class(function(id).class_name) == root;
  });
}

/// Whether a class of a file has one of the name `base` among those it derives from.
bool CallGraph::derives_from(std::string_view klass, uint32_t file, std::string_view base) const {
  return std::ranges::any_of(classes_.named(klass), [&](const ClassPlace& place) {
    return place.file == file &&
           std::ranges::any_of(classes_.with_bases(place),
                               [&](const ClassPlace& above) { return above.facts->name == base; });
  });
}

/// Whether the class of `method` has another method in the place of `caller`, which does not call
/// that: Base.forward() calls self.weight(), and of Derived, which has a forward(), not its.
bool CallGraph::has_its_own(FunctionId method, FunctionId caller) const {
  const FunctionFacts& from = function(caller);
  const std::string_view klass = function(method).class_name;
  if (from.class_name.empty() || klass.empty() || klass == from.class_name ||
      from.name == function(method).name)
    return false;
  const uint32_t file = where_[method].first;
  const std::span<const FunctionId> namesakes = members(klass, from.name);
  const auto other =
      std::ranges::find_if(namesakes, [&](FunctionId id) { return where_[id].first == file; });
  return other != namesakes.end() && derives_from(klass, file, from.class_name) &&
         std::ranges::none_of(files_[file]->calls, [&](const CallFacts& call) {
           return call.function == where_[*other].second && last_component(call.name) == from.name;
         });
}

}  // namespace stallscope
