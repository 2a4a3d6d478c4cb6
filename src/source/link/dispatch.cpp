// Virtual dispatch: what `updater->Update(a, b)` may call when the type of `updater` is declared
// elsewhere, and `metric.update(loss)` when nothing says what `metric` is. A project's method of
// one class hierarchy, with as many arguments, is meant; of several hierarchies, the one that the
// object is named after.
#include <algorithm>
#include <iterator>
#include <string>

#include "source/link/call_graph.h"
#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr size_t kMostNamed = 24;  ///< methods that one prefix of names may mean
constexpr size_t kMostOverriders = 48;
constexpr size_t kMostWithoutName = 4;  ///< of several hierarchies, whatever the object's name
constexpr size_t kShortestName = 3;
constexpr unsigned kMostHops = 8;

/// "treeupdater" of "TreeUpdater", "updater" of "p_updaters_".
std::string plain(std::string_view name, bool object) {
  if (object && name.starts_with("p_")) name.remove_prefix(2);
  if (object && name.starts_with("m_")) name.remove_prefix(2);
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z')) out += c;
  }
  if (object && out.size() > kShortestName && out.ends_with('s')) out.pop_back();
  return out;
}

/// Whether an object of this name is one of the class, by the names, both plain.
bool is_named_after(std::string_view object, std::string_view klass) {
  return klass.size() >= kShortestName && (klass.find(object) != std::string_view::npos ||
                                           object.find(klass) != std::string_view::npos);
}

/// regressionactionhead, of an actionhead; both plain
bool has_whole_name(std::string_view klass, std::string_view object) {
  return klass.ends_with(object) || klass.starts_with(object);
}

}  // namespace

bool is_common_action(std::string_view name) {
  return is_one_of(name, {"update", "add", "step", "log", "run", "apply", "call", "write", "start",
                          "stop", "begin", "end", "reset"});
}

bool is_dispatched(const FileFacts& file, const CallFacts& call, std::string_view receiver) {
  return file.language != "python" && call.form == CallForm::method && receiver.empty();
}

/// The first class of a hierarchy that the project knows.
std::string_view CallGraph::root_class(std::string_view name) const {
  for (unsigned hop = 0; hop < kMostHops; ++hop) {
    const ClassFacts* with_bases = nullptr;
    for (const ClassPlace& c : classes_.named(name)) {
      if (!c.facts->bases.empty()) with_bases = c.facts;
    }
    if (!with_bases) return name;
    std::string_view base = last_component(with_bases->bases.front());
    base = base.substr(base.rfind(':') == std::string_view::npos ? 0 : base.rfind(':') + 1);
    if (base == name || classes_.named(base).empty()) return name;
    name = base;
  }
  return name;
}

/// The class of the project that `weights_` is declared to be, or to hold, in the class of the
/// method that names it; empty if none is.
std::string_view CallGraph::field_class(FunctionId in, std::string_view name) const {
  for (const ClassPlace& own : classes_.named(own_class(in))) {
    for (const ClassPlace& klass : classes_.with_bases(own)) {
      for (const auto& [field, type] : klass.facts->fields) {
        if (field != name) continue;
        // std::vector<std::unique_ptr<Layer>>: the last word that is a class of the project.
        std::string_view rest = type;
        while (!rest.empty()) {
          const auto end = std::ranges::find_if(rest.rbegin(), rest.rend(), is_identifier_char);
          rest = rest.substr(0, static_cast<size_t>(rest.rend() - end));
          const auto begin = std::find_if_not(rest.rbegin(), rest.rend(), is_identifier_char);
          const std::string_view word = rest.substr(static_cast<size_t>(rest.rend() - begin));
          if (!word.empty() && !classes_.named(word).empty()) return word;
          rest.remove_suffix(word.size());
        }
      }
    }
  }
  return {};
}

/// sampler_(labels): what runs where a member of the caller's class is called like a function.
std::vector<FunctionId> CallGraph::called_object(uint32_t f, const CallFacts& call) const {
  if (!by_name_.contains("operator()")) return {};
  const std::string_view klass = field_class(id_of(f, call.function), call.name);
  if (klass.empty()) return {};
  std::vector<FunctionId> out = methods(klass, "operator()", f);
  keep_taking(call.given, out, true);
  return out;
}

/// for cb in callbacks: cb(step, metrics): what runs where objects that are called back are called
/// like functions, of classes whose names say that they are.
std::vector<FunctionId> CallGraph::called_back(std::string_view name, uint8_t given) const {
  std::vector<FunctionId> out;
  const auto found = by_name_.find("__call__");
  if (found == by_name_.end() || !is_one_of(name, {"cb", "callback", "hook"})) return out;
  std::ranges::copy_if(found->second, std::back_inserter(out), [&](FunctionId id) {
    const std::string_view klass = function(id).class_name;
    return contains_any(klass, {"callback", "hook"}) ||
           contains_any(root_class(klass), {"callback", "hook"});
  });
  keep_taking(given, out, true);
  if (out.size() > kMostNamed) out.clear();
  return out;
}

bool CallGraph::is_only_method(const Edge& edge) const {
  if (!file(edge.to).is_compiled() || !file(edge.from).is_compiled()) return false;
  const FunctionFacts& called = function(edge.to);
  if (is_own_tensors(file_index(edge.from), called.name)) return true;
  const std::string name = plain(called.name, false);
  if (called.class_name.empty() || is_common_method(name) || is_common_action(name) ||
      is_one_of(name, {"copy", "clear",  "wait", "join",   "lock",  "flush", "close",  "open",
                       "read", "resize", "swap", "assign", "load",  "store", "data",   "push",
                       "pop",  "move",   "to",   "sync",   "print", "free",  "release"}))
    return false;
  const auto found = by_name_.find(called.name);
  return found != by_name_.end() && std::ranges::all_of(found->second, [&](FunctionId id) {
           return function(id).class_name == called.class_name;
         });
}

/// x.cpu() of an engine with a tensor of its own: the only class that has such a method is meant.
bool CallGraph::is_own_tensors(size_t file, std::string_view method) const {
  static const uint32_t torch = name_hash("torch");
  const auto found = by_name_.find(method);
  return found != by_name_.end() && is_one_of(method, {"cpu", "cuda", "to", "item"}) &&
         files_[file]->is_compiled() && !mentions(files_[file]->mentions, torch) &&
         std::ranges::all_of(found->second, [&](FunctionId id) {
           return !function(id).class_name.empty() && this->file(id).is_compiled() &&
                  function(id).class_name == function(found->second.front()).class_name;
         });
}

std::vector<FunctionId> CallGraph::dispatched(uint32_t f, const CallFacts& call) const {
  std::vector<FunctionId> out;
  auto found = by_name_.find(call.name);
  if (found == by_name_.end()) return out;
  const auto no_method = [&](FunctionId id) {
    return function(id).class_name.empty() || !file(id).is_compiled();
  };
  const std::string_view declared = field_class(id_of(f, call.function), call.object);
  if (!declared.empty()) out = methods(declared, call.name, f);
  std::erase_if(out, no_method);
  keep_taking(call.given, out);
  if (!out.empty()) return out;
  std::ranges::remove_copy_if(found->second, std::back_inserter(out), no_method);
  keep_taking(call.given, out);
  std::vector<std::string_view> roots;
  for (const FunctionId id : out) {
    const std::string_view root = root_class(function(id).class_name);
    if (std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
  }
  const bool common = is_common_method(plain(call.name, false)) && !is_own_tensors(f, call.name);
  if (common || (roots.size() > 1 && out.size() > kMostWithoutName))
    keep_named_after(call.object, out);
  if (out.size() > kMostOverriders) out.clear();
  return out;
}

/// The plain names of all methods' classes, made once: common methods ask for hundreds each.
void CallGraph::name_classes() {
  std::unordered_map<std::string_view, uint32_t> known;
  for (FunctionId id = 0; id < functions(); ++id) {
    const std::string_view klass = function(id).class_name;
    const auto [at, is_new] = known.try_emplace(klass, static_cast<uint32_t>(class_names_.size()));
    if (is_new) class_names_.push_back({plain(klass, false), plain(root_class(klass), false)});
    class_name_of_.push_back(at->second);
  }
}

/// Keeps the methods of classes that an object of that name is one of, by the names.
void CallGraph::keep_named_after(std::string_view object, std::vector<FunctionId>& methods) const {
  const std::string name = plain(object, true);
  std::erase_if(methods, [&](FunctionId id) {
    const ClassNames& klass = class_names_[class_name_of_[id]];
    return name.size() < kShortestName ||
           !(is_named_after(name, klass.own) || is_named_after(name, klass.root));
  });
  if (methods.size() > kMostOverriders) methods.clear();
}

/// x_sampler.sample(n): the methods of classes that end in the object's last word, as RingSampler
/// does. Short words say too little, and so do words that many classes end in.
std::vector<FunctionId> CallGraph::of_kind(std::string_view object,
                                           const std::vector<FunctionId>& methods) const {
  constexpr size_t kShortestWord = 5, kMostOfKind = 16;
  const size_t word = object.rfind('_');
  std::vector<FunctionId> out;
  if (word == std::string_view::npos || object.size() - word <= kShortestWord) return out;
  const std::string kind = plain(object.substr(word + 1), true);
  std::ranges::copy_if(methods, std::back_inserter(out), [&](FunctionId id) {
    return class_names_[class_name_of_[id]].own.ends_with(kind);
  });
  if (out.size() > kMostOfKind) out.clear();
  return out;
}

/// Whether the name of a class or of one that it derives from, in the project or not, is called
/// after an object of this plain name.
bool CallGraph::is_family_of(std::string_view klass, std::string_view name) const {
  std::vector<std::string_view> family = {klass};
  for (size_t i = 0; i < family.size() && i < kMostHops; ++i) {
    if (has_whole_name(plain(family[i], false), name)) return true;
    for (const ClassPlace& place : classes_.named(family[i])) {
      for (const std::string& base : place.facts->bases) family.push_back(last_component(base));
    }
  }
  return false;
}

/// action_head.predict(x): of several classes those of a family that is called after the whole
/// object, which has two words at least. Leaves all where none is.
void CallGraph::keep_called_after(std::string_view object, std::vector<FunctionId>& methods) const {
  const size_t word = object.find('_', 1);
  if (methods.size() < 2 || word == std::string_view::npos || word + 1 >= object.size()) return;
  const std::string name = plain(object, true);
  if (std::ranges::none_of(methods, [&](FunctionId id) {
        return has_whole_name(class_names_[class_name_of_[id]].own, name);
      }))
    return;
  std::erase_if(methods,
                [&](FunctionId id) { return !is_family_of(function(id).class_name, name); });
}

/// The methods of the caller's class, of its bases and of what derives from it, that begin so.
std::vector<FunctionId> CallGraph::named_by_prefix(size_t file, const CallFacts& call) const {
  const std::string_view own = own_class(id_of(file, call.function));
  std::vector<FunctionId> out;
  for (const ClassPlace& klass : classes_.visible(own, static_cast<uint32_t>(file))) {
    std::vector<ClassPlace> family = classes_.with_bases(klass);
    const std::vector<ClassPlace>& below = classes_.below(klass);
    family.insert(family.end(), below.begin(), below.end());
    for (const ClassPlace& member : family) {
      const auto all = members_.find(member.facts->name);
      if (all == members_.end()) continue;
      for (auto named = all->second.lower_bound(call.name);
           named != all->second.end() && named->first.starts_with(call.name); ++named) {
        for (const FunctionId id : named->second) {
          if (file_index(id) == member.file && std::ranges::find(out, id) == out.end())
            out.push_back(id);
        }
      }
    }
  }
  if (out.size() > kMostNamed) out.clear();
  return out;
}

}  // namespace stallscope
