#include "source/link/call_graph.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string>

#include "base/parallel.h"
#include "source/link/purpose.h"
#include "source/names/mentions.h"
#include "source/names/names.h"

namespace stallscope {
namespace {

constexpr size_t kMostWrappers = 16;  ///< functions inside a decorator that are looked at
/// Methods of one name of one class: more are overloads and classes of other scopes, of which
/// nothing says which is meant.
constexpr size_t kMostNamesakes = 16;
constexpr size_t kMaxTargets = 4;     ///< of a method called on an unknown receiver
constexpr unsigned kMostAliases = 4;  ///< of an alias of an alias: step = jit(step) has no end

/// Method names too common to say whose they are.
constexpr std::array<std::string_view, 52> kCommonMethods = {
    "get",      "set",   "update", "add",   "append", "step",  "forward",  "close",    "open",
    "read",     "write", "run",    "reset", "items",  "keys",  "values",   "pop",      "copy",
    "format",   "join",  "split",  "mean",  "sum",    "item",  "to",       "cpu",      "cuda",
    "size",     "next",  "start",  "stop",  "apply",  "call",  "__call__", "__iter__", "__enter__",
    "__exit__", "init",  "clear",  "index", "insert", "load",  "save",     "log",      "begin",
    "end",      "find",  "count",  "numel", "tolist", "numpy", "__next__"};

}  // namespace

bool is_common_method(std::string_view name) {
  return std::ranges::find(kCommonMethods, name) != kCommonMethods.end();
}

CallGraph::CallGraph(std::span<const std::unique_ptr<FileFacts>> files)
    : files_(files), modules_(files), classes_(files, modules_) {
  for (uint32_t f = 0; f < files.size(); ++f) {
    first_of_file_.push_back(static_cast<FunctionId>(where_.size()));
    for (uint32_t i = 0; i < files[f]->functions.size(); ++i) {
      const FunctionFacts& function = files[f]->functions[i];
      const auto id = static_cast<FunctionId>(where_.size());
      if (i > 0) by_name_[function.name].push_back(id);
      if (i > 0 && !function.class_name.empty() && function.parent == kNone) {
        members_[function.class_name][function.name].push_back(id);
        if (function.name == "__new__" || function.name == "__getattr__")
          remade_.insert(function.class_name);
      }
      where_.emplace_back(f, i);
    }
  }
  name_classes();
  find_batch_movers();
  add_edges();
}

const FunctionFacts& CallGraph::function(FunctionId id) const {
  return files_[where_[id].first]->functions[where_[id].second];
}

void CallGraph::add_edges() {
  std::vector<FileEdges> edges(files_.size());
  parallel_for(files_.size(), [&](size_t f) { find_edges(static_cast<uint32_t>(f), edges[f]); });
  connect(edges);
  // Now that it is known what callers hand in: the methods of what they hand in.
  parallel_for(files_.size(), [&](size_t f) {
    edges[f].open.clear();
    const FileFacts& file = *files_[f];
    for (const CallFacts& call : file.calls) {
      if (is_open(f, call)) add_calls(f, call, open_targets(f, call), edges[f].open);
      if (call.name == "__call__" && !file.is_compiled())
        add_applications(f, call, edges[f].applied);
    }
  });
  connect(edges);
  for (const FileEdges& file : edges)
    applied_.insert(applied_.end(), file.applied.begin(), file.applied.end());
  std::ranges::stable_sort(applied_, {}, &Edge::to);
}

std::span<const Edge> CallGraph::applications(FunctionId id) const {
  return std::ranges::equal_range(applied_, id, {}, &Edge::to);
}

/// Makes the graph of the edges of each file.
void CallGraph::connect(std::span<const FileEdges> files) {
  edges_.clear();
  for (const FileEdges& file : files) {
    edges_.insert(edges_.end(), file.known.begin(), file.known.end());
    edges_.insert(edges_.end(), file.open.begin(), file.open.end());
  }
  callers_ = lists_by(&Edge::to);
  calls_ = lists_by(&Edge::from);
}

/// The edges of each function at one of their ends, in the order of edges_.
CallGraph::EdgeLists CallGraph::lists_by(FunctionId Edge::* end) const {
  EdgeLists out;
  out.first.assign(where_.size() + 1, 0);
  for (const Edge& edge : edges_) ++out.first[edge.*end + 1];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  out.edges.resize(edges_.size());
  std::vector<uint32_t> next = out.first;
  for (uint32_t e = 0; e < edges_.size(); ++e) out.edges[next[edges_[e].*end]++] = e;
  return out;
}

void CallGraph::add_calls(size_t file, const CallFacts& call, const std::vector<FunctionId>& to,
                          std::vector<Edge>& out) const {
  const FunctionId from = id_of(file, call.function);
  // x.sample(seed=key) of anything is no method that has no `seed`
  const bool named = call.form == CallForm::method && call.keywords != 0;
  for (const FunctionId id : to) {
    if (id == from || (named && !knows_keywords(id, call.keywords))) continue;
    const bool consumed = call.consumer != kNone && ((function(id).flags & kGenerator) != 0 ||
                                                     function(id).name == "__next__");
    out.push_back({from, id, &call, consumed ? call.consumer : call.loop, call.guards});
  }
}

/// The edges of a file's calls; where other functions decide whose method is called, by its name.
void CallGraph::find_edges(uint32_t f, FileEdges& out) const {
  const FileFacts& file = *files_[f];
  std::map<std::string_view, std::vector<FunctionId>> movers;  // the same for each of its calls
  const auto movers_of = [&](std::string_view name) {
    const auto [at, is_new] = movers.try_emplace(name);
    if (is_new) at->second = batch_movers(f, name);
    return at->second;
  };
  for (const CallFacts& call : file.calls) {
    if (call.form == CallForm::module) continue;
    const FunctionId from = id_of(f, call.function);
    const std::string_view receiver = receiver_class(file, call);
    if (call.form == CallForm::property) {
      std::vector<FunctionId> read =
          resolve(f, call.name, receiver.empty() ? CallForm::self_method : CallForm::method, from,
                  receiver);
      std::erase_if(read, [&](FunctionId id) { return (function(id).flags & kProperty) == 0; });
      add_calls(f, call, read, out.known);
      continue;
    }
    std::vector<FunctionId> targets =
        call.form == CallForm::decorator ? wrappers(f, call)
        : call.form == CallForm::prefix  ? named_by_prefix(f, call)
        : call.moves_batch               ? movers_of(call.name)
        : is_dispatched(file, call, receiver)
            ? dispatched(f, call)
            : resolve(f, call.name, call.form, from, receiver, call.given, call.object);
    if (targets.empty() && file.is_compiled() && call.form == CallForm::function)
      targets = called_object(f, call);
    add_calls(f, call, targets, is_open(f, call) ? out.open : out.known);
  }
}

/// What a decorator returns in the decorated function's place: the innermost functions it defines.
/// Those around them run once, when the function is defined.
std::vector<FunctionId> CallGraph::wrappers(uint32_t file, const CallFacts& call) const {
  std::vector<FunctionId> out;
  std::vector<FunctionId> inside =
      resolve(file, call.name, CallForm::function, id_of(file, call.function), {});
  const size_t decorators = inside.size();
  for (size_t i = 0; i < inside.size() && inside.size() < kMostWrappers; ++i) {
    const auto [at, index] = where_[inside[i]];
    const std::vector<FunctionFacts>& functions = files_[at]->functions;
    const size_t before = inside.size();
    for (uint32_t f = index + 1; f < functions.size(); ++f) {
      if (functions[f].parent == index) inside.push_back(id_of(at, f));
    }
    if (i >= decorators && inside.size() == before) out.push_back(inside[i]);
  }
  return out;
}

/// The methods of that name of records that belong to the caller's program: it imports them, or
/// imports what does. What its loaders yield may be one.
std::vector<FunctionId> CallGraph::batch_movers(size_t file, std::string_view name) const {
  std::vector<FunctionId> out;
  for (const BatchMover& mover : batch_movers_) {
    if (function(mover.method).name != name) continue;
    const bool known = std::ranges::any_of(mover.importers, [&](uint32_t importer) {
      return importer == file || imports(file, importer);
    });
    if (known) out.push_back(mover.method);
  }
  return out;
}

void CallGraph::find_batch_movers() {
  for (const std::string_view name : {"to", "cuda"}) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) continue;
    std::vector<FunctionId> methods;
    for (const FunctionId id : found->second) {
      const auto classes = classes_.named(function(id).class_name);
      const bool module = std::ranges::any_of(
          classes, [](const ClassPlace& klass) { return klass.facts->is_module; });
      if (!classes.empty() && !module && function(id).parent == kNone) methods.push_back(id);
    }
    if (methods.size() > kMaxTargets) continue;
    for (const FunctionId id : methods) {
      BatchMover& mover = batch_movers_.emplace_back(id, std::vector<uint32_t>{});
      const auto home = static_cast<uint32_t>(file_index(id));
      for (uint32_t f = 0; f < files_.size(); ++f) {
        if (f == home || imports(f, home)) mover.importers.push_back(f);
      }
    }
  }
}

bool CallGraph::imports(size_t file, size_t other) const {
  return std::ranges::any_of(files_[file]->imports, [&](const auto& bound_from) {
    const std::string_view path = bound_from.second;
    const size_t dot = path.rfind('.');
    return modules_.matches(other, path, file) ||
           (dot != std::string_view::npos && modules_.matches(other, path.substr(0, dot), file));
  });
}

std::string_view CallGraph::receiver_class(const FileFacts& file, const CallFacts& call) const {
  if (call.receiver == 0) return {};
  const Dependency& on = file.dependencies[call.receiver - 1];
  if (on.kind == DependencyKind::instance) return on.name;
  // buffer = ReplayBuffer(100), imported: that it is a class only the project says.
  return on.kind == DependencyKind::returns && makes_its_objects(last_component(on.name))
             ? std::string_view(on.name)
             : std::string_view();
}

/// A class's own methods of that name; C++ may define them in any file.
std::vector<FunctionId> CallGraph::members(const ClassPlace& klass, std::string_view name) const {
  const std::span<const FunctionId> all = members(klass.facts->name, name);
  auto first = all.begin(), last = all.end();
  if (files_[klass.file]->language == "python") {  // ids are in the order of files
    first = std::lower_bound(first, last, id_of(klass.file, 0));
    last = std::lower_bound(
        first, last,
        id_of(klass.file, static_cast<uint32_t>(files_[klass.file]->functions.size())));
  }
  if (static_cast<size_t>(last - first) > kMostNamesakes) last = first + kMostNamesakes;
  return {first, last};
}

/// The methods of that name of all classes of a name.
std::span<const FunctionId> CallGraph::members(std::string_view class_name,
                                               std::string_view name) const {
  const auto all = members_.find(class_name);
  if (all == members_.end()) return {};
  const auto named = all->second.find(name);
  return named == all->second.end() ? std::span<const FunctionId>() : named->second;
}

/// Whether `given` arguments are as many as a function takes: dist.sample() is not
/// Sampler.sample(batch, device).
bool CallGraph::takes(FunctionId id, uint8_t given) const {
  const FunctionFacts& f = function(id);
  return given == kAnyArguments || (given >= f.required && given <= f.accepted);
}

bool CallGraph::knows_keywords(FunctionId id, uint64_t keywords) const {
  uint64_t known = 0;
  for (const std::string& parameter : function(id).parameters) {
    if (parameter.starts_with("**")) return true;
    known |= name_bit(parameter);
  }
  return file(id).is_compiled() || (keywords & ~known) == 0;
}

/// Whether fewer arguments may do: C++ says defaults where a method is declared, not where it is
/// defined.
bool CallGraph::may_have_defaults(FunctionId id, uint8_t given) const {
  constexpr int kMostDefaults = 3;
  const FunctionFacts& f = function(id);
  return file(id).is_compiled() && given < f.required && f.required - given <= kMostDefaults;
}

/// Keeps the functions that take so many arguments; where none does, those that may. Of a call
/// without arguments only where it is known whose they are.
void CallGraph::keep_taking(uint8_t given, std::vector<FunctionId>& functions, bool own) const {
  const bool exact =
      std::ranges::any_of(functions, [&](FunctionId id) { return takes(id, given); });
  std::erase_if(functions, [&](FunctionId id) {
    return !(exact ? takes(id, given) : (own || given > 0) && may_have_defaults(id, given));
  });
}

/// What a method's name runs on an object of a class, as a file names the class: its own method or
/// a base's, and all that override it; of super() a base's.
std::vector<FunctionId> CallGraph::methods(std::string_view class_name, std::string_view name,
                                           uint32_t from_file, CallForm form) const {
  std::vector<FunctionId> out;
  if (!by_name_.contains(name)) return out;
  const std::vector<ClassPlace> classes = classes_.visible(class_name, from_file);
  if (classes.empty()) {  // a class of C++ whose header is elsewhere
    const std::span<const FunctionId> all = members(class_name, name);
    return {all.begin(), all.end()};
  }
  std::unordered_set<FunctionId> known;
  for (const ClassPlace& klass : classes) {
    for (const FunctionId id : methods_of(klass, name, form)) {
      if (known.insert(id).second) out.push_back(id);
    }
  }
  return out;
}

/// Worked out once for each class and name: tests call assertEqual() of one class ten thousand
/// times.
const std::vector<FunctionId>& CallGraph::methods_of(const ClassPlace& klass, std::string_view name,
                                                     CallForm form) const {
  static const std::vector<FunctionId> none;
  const auto named = by_name_.find(name);
  if (named == by_name_.end()) return none;
  const bool super = form == CallForm::super_method;
  const auto key = std::tuple(klass.facts, named->first.data(), super);
  {
    const std::lock_guard lock(methods_mutex_);
    if (const auto known = methods_.find(key); known != methods_.end()) return known->second;
  }
  std::vector<FunctionId> found = find_methods(klass, named->first, super);
  const std::lock_guard lock(methods_mutex_);
  return methods_.try_emplace(key, std::move(found)).first->second;
}

std::vector<FunctionId> CallGraph::find_methods(const ClassPlace& klass, std::string_view name,
                                                bool super) const {
  std::vector<FunctionId> out;
  const auto add = [&](const ClassPlace& from) {
    for (const FunctionId id : members(from, name)) {
      if (std::ranges::find(out, id) == out.end() && !(super && from == klass)) out.push_back(id);
    }
  };
  add(klass);
  if (out.empty()) {
    for (const ClassPlace& base : classes_.with_bases(klass)) {
      add(base);
      if (!out.empty()) break;
    }
  }
  const std::vector<ClassPlace>& below = classes_.below(klass);
  if (!super) std::ranges::for_each(below, add);
  if (!out.empty()) return out;
  // A mixin calls what the classes that it is mixed into inherit elsewhere.
  for (const ClassPlace& sub : below) std::ranges::for_each(classes_.with_bases(sub), add);
  return out;
}

/// What Net(...) runs of the only class that a file means by the name: its __init__, or a base's.
std::vector<FunctionId> CallGraph::constructors(std::string_view class_name,
                                                uint32_t from_file) const {
  const std::vector<ClassPlace> classes = classes_.visible(class_name, from_file);
  if (classes.size() != 1) return {};
  for (const ClassPlace& klass : classes_.with_bases(classes.front())) {
    const std::vector<FunctionId> own = members(klass, "__init__");
    if (!own.empty()) return {own.front()};
  }
  return {};
}

std::vector<FunctionId> CallGraph::resolve(size_t file, std::string_view name, CallForm form,
                                           FunctionId in, std::string_view receiver_class,
                                           uint8_t given, std::string_view object) const {
  std::vector<FunctionId> out;
  if (name.starts_with("self.")) {
    name.remove_prefix(5);
    form = CallForm::self_method;
  }
  if (name.starts_with("super.")) {
    name.remove_prefix(6);
    form = CallForm::super_method;
  }
  std::string_view last = last_component(name);
  // step = partial(update, n); step = self.step = jax.jit(step)
  const auto& aliases = files_[file]->aliases;
  for (unsigned hop = 0; hop < kMostAliases; ++hop) {
    const auto known =
        std::ranges::find(aliases, last, &std::pair<std::string, std::string>::first);
    if (known == aliases.end()) break;
    const std::string_view to = known->second, before = last;
    last = last_component(to);
    if (last != to) {
      name = to;  // self.step = jax.jit(training.step)
      form = CallForm::function;
    }
    if (last == before) break;
  }
  auto found = by_name_.find(last);
  if (found == by_name_.end()) {
    if (form != CallForm::function || files_[file]->language != "python") return out;
    out = constructors(last, static_cast<uint32_t>(file));
    return out.empty() && name == last ? called_back(last, given) : out;
  }
  if (form == CallForm::self_method || form == CallForm::super_method) {
    if (const std::string_view own = own_class(in); !own.empty())
      out = methods(own, last, where_[in].first, form);
    std::erase_if(out, [&](FunctionId id) { return has_its_own(id, in); });
    return out;
  }
  if (!receiver_class.empty()) {
    out = methods(last_component(receiver_class), last, static_cast<uint32_t>(file));
    // C++ may have declared it by an alias, or by a parameter of a template.
    if (!out.empty() || files_[file]->language == "python" ||
        !classes_.named(last_component(receiver_class)).empty())
      return out;
  }
  const size_t scope = name.size() > last.size() ? name.size() - last.size() - 1 : 0;
  const std::string_view module = scope > 0 && name.ends_with(last) && name[scope] == '.'
                                      ? name.substr(0, scope)
                                      : std::string_view();
  if (form != CallForm::method && module.empty()) {
    out = nested(in, last);
    if (!out.empty()) return out;
  }
  // C++: a method calls its class's others without saying `this`.
  const std::string_view own =
      form == CallForm::function && files_[file]->language != "python" && name == last
          ? own_class(in)
          : std::string_view();
  if (!own.empty()) {
    out = methods(own, last, where_[in].first);
    keep_taking(given, out, true);
    if (!out.empty()) return out;
  }
  const bool common =
      form == CallForm::method && is_common_method(last) && !is_own_tensors(file, last);
  if (common && !is_common_action(last)) return out;  // whatever the object is called
  if (form == CallForm::method || (form == CallForm::reference && module.empty())) {
    std::ranges::copy_if(found->second, std::back_inserter(out), [&](FunctionId id) {
      return form == CallForm::method ? !function(id).class_name.empty() : where_[id].first == file;
    });
    // jax.jit(update), where a class of the file has an update() too
    const auto is_method = [&](FunctionId id) {
      return !function(id).class_name.empty() && function(id).parent == kNone;
    };
    if (form == CallForm::reference && object.empty() && !std::ranges::all_of(out, is_method))
      std::erase_if(out, is_method);
    if (form == CallForm::method) keep_taking(given, out);
    if (form == CallForm::method && files_[file]->language == "python")
      keep_called_after(object, out);
    if (!common && (out.size() <= kMaxTargets || are_alike(out))) return out;
    const std::vector<FunctionId> all = out;
    keep_named_after(object, out);
    return out.empty() && uses_jax(*files_[file]) ? of_kind(object, all) : out;
  }
  for (FunctionId id : found->second) {
    const FunctionFacts& f = function(id);
    if (!f.class_name.empty() && f.parent == kNone) {
      // Class.method(...) of an imported or local class.
      if (module.empty() || last_component(module) != f.class_name) continue;
      out.push_back(id);
    } else if (module.empty() ? where_[id].first == file
                              : modules_.matches(where_[id].first, module, file)) {
      out.push_back(id);
    }
  }
  if (out.empty() && module.empty()) out = starred(file, found->second);
  // C++ finds what another file defines by its name; headers do not say where.
  if (out.empty() && files_[file]->language != "python" && form == CallForm::function) {
    for (FunctionId id : found->second) {
      if (function(id).class_name.empty() && files_[where_[id].first]->language != "python")
        out.push_back(id);
    }
    if (out.size() > kMaxTargets) out.clear();
  }
  if (out.size() > kMaxTargets) out.resize(kMaxTargets);
  return out;
}

/// The class whose method a function is, or is defined in.
std::string_view CallGraph::own_class(FunctionId id) const {
  while (function(id).class_name.empty() && function(id).parent != kNone)
    id = id_of(where_[id].first, function(id).parent);
  return function(id).class_name;
}

/// The functions of that name that `in`, or the nearest one around it that has such, defines.
std::vector<FunctionId> CallGraph::nested(FunctionId in, std::string_view name) const {
  std::vector<FunctionId> out;
  const auto [file, index] = where_[in];
  const std::vector<FunctionFacts>& functions = files_[file]->functions;
  for (uint32_t at = index; at != kNone && at != 0 && out.empty(); at = functions[at].parent) {
    for (const FunctionId id : by_name_.at(name)) {
      const auto [other, inner] = where_[id];
      if (other == file && functions[inner].parent == at) out.push_back(id);
    }
  }
  return out;
}

/// Of `candidates` those that `from x import *` brings into a file.
std::vector<FunctionId> CallGraph::starred(size_t file,
                                           const std::vector<FunctionId>& candidates) const {
  std::vector<FunctionId> out;
  for (const auto& [bound, from] : files_[file]->imports) {
    if (bound != "*") continue;
    for (FunctionId id : candidates) {
      if (function(id).class_name.empty() && modules_.matches(where_[id].first, from, file) &&
          std::ranges::find(out, id) == out.end())
        out.push_back(id);
    }
  }
  return out;
}

std::vector<FunctionId> CallGraph::named(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? std::vector<FunctionId>() : found->second;
}

}  // namespace stallscope
