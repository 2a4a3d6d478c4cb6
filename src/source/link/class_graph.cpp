#include "source/link/class_graph.h"

#include <algorithm>
#include <unordered_set>

#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr size_t kMostRelated = 64;  ///< classes of a hierarchy that are looked at

}  // namespace

ClassGraph::ClassGraph(std::span<const std::unique_ptr<FileFacts>> files,
                       const ModulePaths& modules)
    : files_(files), modules_(modules) {
  for (uint32_t f = 0; f < files.size(); ++f) {
    for (const ClassFacts& c : files[f]->classes) {
      classes_[c.name].push_back({f, &c});
      for (const std::string& base : c.bases) subclasses_[last_component(base)].push_back({f, &c});
    }
  }
}

std::span<const ClassPlace> ClassGraph::named(std::string_view name) const {
  auto found = classes_.find(name);
  if (found == classes_.end()) return {};
  return found->second;
}

std::vector<ClassPlace> ClassGraph::visible(std::string_view name, uint32_t from_file) const {
  const std::span<const ClassPlace> all = named(name);
  std::vector<ClassPlace> out;
  // A class of C++ is declared in one file, its methods are defined in others.
  if (all.size() > 1 && files_[from_file]->language == "python") {
    std::ranges::copy_if(all, std::back_inserter(out),
                         [&](const ClassPlace& c) { return c.file == from_file; });
    if (!out.empty()) return out;
    for (const auto& [bound, path] : files_[from_file]->imports) {
      const bool star = bound == "*";
      if (!star && (last_component(path) != name || path.size() == name.size())) continue;
      const std::string_view module(path.data(), path.size() - (star ? 0 : name.size() + 1));
      for (const ClassPlace& c : all) {
        if (modules_.matches(c.file, module, from_file)) out.push_back(c);
      }
      if (!out.empty()) return out;
    }
  }
  out.assign(all.begin(), all.end());
  return out;
}

std::vector<ClassPlace> ClassGraph::with_bases(const ClassPlace& klass) const {
  std::vector<ClassPlace> out = {klass};
  std::unordered_set<std::string_view> followed;  // every file of C++ means the same by a name
  for (size_t i = 0; i < out.size(); ++i) {
    const bool python = files_[out[i].file]->language == "python";
    for (const std::string& base : out[i].facts->bases) {
      const std::string_view name = last_component(base);
      if (!python && !followed.insert(name).second) continue;
      for (const ClassPlace& c : visible(name, out[i].file)) {
        if (out.size() >= kMostRelated) return out;
        if (std::ranges::find(out, c) == out.end()) out.push_back(c);
      }
    }
  }
  return out;
}

const std::vector<ClassPlace>& ClassGraph::below(const ClassPlace& klass) const {
  {
    const std::lock_guard lock(below_mutex_);
    if (const auto known = below_.find(klass.facts); known != below_.end()) return known->second;
  }
  std::vector<ClassPlace> found = derived(klass);
  const std::lock_guard lock(below_mutex_);
  return below_.try_emplace(klass.facts, std::move(found)).first->second;
}

std::vector<ClassPlace> ClassGraph::derived(const ClassPlace& klass) const {
  std::vector<ClassPlace> out = {klass};
  for (size_t i = 0; i < out.size() && out.size() < kMostRelated; ++i) {
    const ClassPlace at = out[i];
    auto subclasses = subclasses_.find(at.facts->name);
    if (subclasses == subclasses_.end()) continue;
    for (const ClassPlace& c : subclasses->second) {
      if (std::ranges::find(out, c) != out.end()) continue;
      // Another class of the name, in another script.
      const std::vector<ClassPlace> meant = visible(at.facts->name, c.file);
      if (std::ranges::find(meant, at) != meant.end()) out.push_back(c);
    }
  }
  out.erase(out.begin());
  return out;
}

std::vector<uint32_t> ClassGraph::files_with_prefetchers() const {
  std::vector<uint32_t> out;
  for (const auto& [name, places] : classes_) {
    if (!contains_any(name, {"prefetch"})) continue;
    for (const ClassPlace& place : places) out.push_back(place.file);
  }
  return out;
}

}  // namespace stallscope
