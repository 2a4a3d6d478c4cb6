// Inference over what another function or file knows: what a value depends on there.
#include <string>
#include <utility>

#include "source/values/infer.h"

namespace stallscope {
namespace {

std::string dependency_key(DependencyKind kind, std::string_view name, uint32_t function,
                           uint32_t index) {
  return std::to_string(static_cast<int>(kind)) + '|' + std::string(name) + '|' +
         std::to_string(function) + '|' + std::to_string(index);
}

}  // namespace

uint32_t Inference::depend(DependencyKind kind, std::string name, uint32_t function,
                           uint32_t index) {
  auto [entry, added] =
      dependency_ids_.try_emplace(dependency_key(kind, name, function, index),
                                  static_cast<uint32_t>(facts_.dependencies.size() + 1));
  if (added) facts_.dependencies.push_back({kind, std::move(name), function, index});
  return entry->second;
}

Value Inference::derived(Value value) {
  if (value.is_device() && value.dependency != 0 &&
      facts_.dependencies[value.dependency - 1].kind != DependencyKind::derived)
    value.dependency = depend(DependencyKind::derived, {}, value.dependency, 0);
  return value;
}

Value Inference::of_both(const Value& a, const Value& b, Value merged) {
  const bool same_kind = a.kind == b.kind && merged.kind == a.kind;
  if (same_kind && (a.kind == Kind::unknown || a.kind == Kind::module) && a.dependency != 0 &&
      b.dependency != 0 && a.dependency != b.dependency)
    merged.dependency = depend(DependencyKind::either, {}, a.dependency, b.dependency);
  return merged;
}

uint32_t Inference::parameter_dependency(uint32_t function, uint32_t index) const {
  const auto found =
      dependency_ids_.find(dependency_key(DependencyKind::parameter, {}, function, index));
  return found == dependency_ids_.end() ? 0 : found->second;
}

const Dependency* Inference::dependency(const Value& value) const {
  return facts_.dependency(value.dependency);
}

}  // namespace stallscope
