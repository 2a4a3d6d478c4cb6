#include "source/call_graph.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/parallel.h"
#include "source/names.h"

namespace stallscope {
namespace {

constexpr size_t kMaxTargets = 4;  ///< of a method called on an unknown receiver
constexpr unsigned kMaxBases = 8;

/// Method names too common to say whose they are.
constexpr std::array<std::string_view, 40> kCommonMethods = {
    "get",   "set",   "update", "add",   "append", "step",   "forward", "close", "open",   "read",
    "write", "run",   "reset",  "items", "keys",   "values", "pop",     "copy",  "format", "join",
    "split", "mean",  "sum",    "item",  "to",     "cpu",    "cuda",    "size",  "next",   "start",
    "stop",  "apply", "call",   "init",  "clear",  "index",  "insert",  "load",  "save",   "log"};

/// "a/b/c.py" as "a.b.c"; a package's __init__ as the package.
std::string module_of(std::string_view path) {
  std::string out(path.substr(0, path.rfind('.')));
  std::ranges::replace(out, '/', '.');
  if (out.ends_with(".__init__")) out.resize(out.size() - 9);
  return out;
}

}  // namespace

bool is_common_method(std::string_view name) {
  return std::ranges::find(kCommonMethods, name) != kCommonMethods.end();
}

CallGraph::CallGraph(std::span<const std::unique_ptr<FileFacts>> files) : files_(files) {
  for (uint32_t f = 0; f < files.size(); ++f) {
    first_of_file_.push_back(static_cast<FunctionId>(where_.size()));
    modules_.push_back(module_of(files[f]->path));
    for (uint32_t i = 0; i < files[f]->functions.size(); ++i) {
      const FunctionFacts& function = files[f]->functions[i];
      const auto id = static_cast<FunctionId>(where_.size());
      if (i > 0) by_name_[function.name].push_back(id);
      if (i > 0 && !function.class_name.empty() && function.parent == kNone)
        members_[function.class_name].push_back(id);
      where_.emplace_back(f, i);
    }
    for (const ClassFacts& c : files[f]->classes) {
      classes_[c.name].push_back(&c);
      for (const std::string& base : c.bases) subclasses_[last_component(base)].push_back(c.name);
    }
  }
  add_edges();
}

const FunctionFacts& CallGraph::function(FunctionId id) const {
  return files_[where_[id].first]->functions[where_[id].second];
}

void CallGraph::add_edges() {
  callers_.resize(where_.size());
  calls_.resize(where_.size());
  std::vector<std::vector<Edge>> of_file(files_.size());
  parallel_for(files_.size(), [&](size_t f) { of_file[f] = edges_of(static_cast<uint32_t>(f)); });
  for (const std::vector<Edge>& edges : of_file) {
    for (const Edge& edge : edges) {
      callers_[edge.to].push_back(static_cast<uint32_t>(edges_.size()));
      calls_[edge.from].push_back(static_cast<uint32_t>(edges_.size()));
      edges_.push_back(edge);
    }
  }
}

std::vector<Edge> CallGraph::edges_of(uint32_t f) const {
  std::vector<Edge> out;
  const FileFacts& file = *files_[f];
  for (const CallFacts& call : file.calls) {
    const FunctionId from = id_of(f, call.function);
    std::string_view receiver =
        call.receiver == 0 ? std::string_view() : file.dependencies[call.receiver - 1].name;
    const std::vector<FunctionId> targets =
        is_dispatched(file, call, receiver)
            ? dispatched(call)
            : resolve(f, call.name, call.form, from, receiver, call.given);
    for (FunctionId to : targets) {
      if (to != from) out.push_back({from, to, &call});
    }
  }
  return out;
}

/// A class's own methods of that name, of all classes so named.
std::vector<FunctionId> CallGraph::members(std::string_view class_name,
                                           std::string_view name) const {
  std::vector<FunctionId> out;
  const auto all = members_.find(class_name);
  if (all == members_.end()) return out;
  for (const FunctionId id : all->second) {
    if (function(id).name == name) out.push_back(id);
  }
  return out;
}

/// Whether `given` arguments are as many as a function takes: dist.sample() is not
/// Sampler.sample(batch, device).
bool CallGraph::takes(FunctionId id, uint8_t given) const {
  const FunctionFacts& f = function(id);
  return given == kAnyArguments || (given >= f.required && given <= f.accepted);
}

/// `module` as written in an import, perhaps relative, perhaps from a root we do not know.
bool CallGraph::module_matches(size_t file, std::string_view module, size_t from_file) const {
  const std::string& path = modules_[file];
  if (module.starts_with('.')) {
    size_t dots = module.find_first_not_of('.');
    if (dots == std::string_view::npos) dots = module.size();
    std::string base = modules_[from_file];
    const bool package = files_[from_file]->path.ends_with("__init__.py");
    for (size_t i = package ? 1 : 0; i < dots; ++i)
      base.resize(base.rfind('.') == std::string::npos ? 0 : base.rfind('.'));
    std::string_view rest = module.substr(dots);
    if (!rest.empty()) base += (base.empty() ? "" : ".") + std::string(rest);
    return path == base || path.starts_with(base + ".");
  }
  auto ends_in = [](std::string_view whole, std::string_view part) {
    return whole == part || (whole.ends_with(part) && whole[whole.size() - part.size() - 1] == '.');
  };
  // A re-export: the package is named, the function lies deeper.
  const std::string package = std::string(module) + ".";
  return ends_in(path, module) || path.starts_with(package) ||
         path.find("." + package) != std::string::npos;
}

std::vector<FunctionId> CallGraph::methods(std::string_view class_name,
                                           std::string_view name) const {
  std::vector<FunctionId> out;
  if (!by_name_.contains(name)) return out;
  auto of_class = [&](std::string_view klass) {
    for (const FunctionId id : members(klass, name)) out.push_back(id);
  };
  std::string_view at = class_name;
  for (unsigned hop = 0; hop < kMaxBases && out.empty(); ++hop) {
    of_class(at);
    auto klass = classes_.find(at);
    if (klass == classes_.end() || klass->second.front()->bases.empty()) break;
    std::string_view base = last_component(klass->second.front()->bases.front());
    if (base == at) break;
    at = base;
  }
  // A method may be overridden below.
  std::vector<std::string_view> below = {class_name};
  for (size_t i = 0; i < below.size() && below.size() < 64; ++i) {
    auto subs = subclasses_.find(below[i]);
    if (subs == subclasses_.end()) continue;
    for (std::string_view sub : subs->second) {
      if (std::ranges::find(below, sub) != below.end()) continue;
      below.push_back(sub);
      of_class(sub);
    }
  }
  return out;
}

/// What Net(...) runs of the only class of that name: its __init__, or a base's.
std::vector<FunctionId> CallGraph::constructors(std::string_view class_name) const {
  for (unsigned hop = 0; hop < kMaxBases; ++hop) {
    const std::span<const ClassFacts* const> classes = classes_named(class_name);
    if (classes.size() != 1) return {};
    const std::vector<FunctionId> own = members(class_name, "__init__");
    if (!own.empty()) return {own.front()};
    if (classes.front()->bases.empty()) return {};
    class_name = last_component(classes.front()->bases.front());
  }
  return {};
}

std::vector<FunctionId> CallGraph::resolve(size_t file, std::string_view name, CallForm form,
                                           FunctionId in, std::string_view receiver_class,
                                           uint8_t given) const {
  std::vector<FunctionId> out;
  if (name.starts_with("self.")) {
    name.remove_prefix(5);
    form = CallForm::self_method;
  }
  std::string_view last = last_component(name);
  for (const auto& [alias, to] : files_[file]->aliases) {
    if (alias == last) last = to;
  }
  auto found = by_name_.find(last);
  if (found == by_name_.end())
    return form == CallForm::function && files_[file]->language == "python" ? constructors(last)
                                                                            : out;
  if (form == CallForm::self_method) {
    FunctionId at = in;
    while (function(at).class_name.empty() && function(at).parent != kNone)
      at = id_of(file, function(at).parent);
    if (!function(at).class_name.empty()) out = methods(function(at).class_name, last);
    return out;
  }
  if (!receiver_class.empty()) {
    out = methods(last_component(receiver_class), last);
    // C++ may have declared it by an alias, or by a parameter of a template.
    if (!out.empty() || files_[file]->language == "python" ||
        !classes_named(last_component(receiver_class)).empty())
      return out;
  }
  // C++: a method calls its class's others without saying `this`.
  if (form == CallForm::function && files_[file]->language != "python" && name == last &&
      !function(in).class_name.empty()) {
    out = methods(function(in).class_name, last);
    std::erase_if(out, [&](FunctionId id) { return !takes(id, given); });
    if (!out.empty()) return out;
  }
  const size_t scope = name.size() > last.size() ? name.size() - last.size() - 1 : 0;
  const std::string_view module = scope > 0 && name.ends_with(last) && name[scope] == '.'
                                      ? name.substr(0, scope)
                                      : std::string_view();
  if (form == CallForm::method || (form == CallForm::reference && module.empty())) {
    for (FunctionId id : found->second) {
      if (form == CallForm::method && (function(id).class_name.empty() || !takes(id, given)))
        continue;
      if (form == CallForm::reference && where_[id].first != file) continue;
      out.push_back(id);
    }
    if (out.size() > kMaxTargets || (form == CallForm::method && is_common_method(last)))
      out.clear();
    return out;
  }
  for (FunctionId id : found->second) {
    const FunctionFacts& f = function(id);
    if (!f.class_name.empty() && f.parent == kNone) {
      // Class.method(...) of an imported or local class.
      if (module.empty() || last_component(module) != f.class_name) continue;
      out.push_back(id);
    } else if (module.empty() ? where_[id].first == file
                              : module_matches(where_[id].first, module, file)) {
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

/// Of `candidates` those that `from x import *` brings into a file.
std::vector<FunctionId> CallGraph::starred(size_t file,
                                           const std::vector<FunctionId>& candidates) const {
  std::vector<FunctionId> out;
  for (const auto& [bound, from] : files_[file]->imports) {
    if (bound != "*") continue;
    for (FunctionId id : candidates) {
      if (function(id).class_name.empty() && module_matches(where_[id].first, from, file) &&
          std::ranges::find(out, id) == out.end())
        out.push_back(id);
    }
  }
  return out;
}

std::span<const ClassFacts* const> CallGraph::classes_named(std::string_view name) const {
  auto found = classes_.find(name);
  if (found == classes_.end()) return {};
  return found->second;
}

bool CallGraph::has_prefetcher() const {
  return std::ranges::any_of(
      classes_, [](const auto& entry) { return contains_any(entry.first, {"prefetch"}); });
}

std::vector<FunctionId> CallGraph::named(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? std::vector<FunctionId>() : found->second;
}

}  // namespace stallscope
