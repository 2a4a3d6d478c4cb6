// What libclang's types say about the values that inference found.
#include <algorithm>

#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool holds_tensors(const Value& value) {
  return value.kind == Kind::tensor_list || value.kind == Kind::host_tensors ||
         value.kind == Kind::parameters || value.kind == Kind::batch;
}

/// Of `kind`, which the type proves; with what inference knows of such a value.
Value surely(Kind kind, const Value& value) {
  return proven(kind, value.kind == kind ? value.flags : uint8_t{0});
}

/// A tensor's type does not say where it is: what inference knows of that stays.
Value as_tensor(const Value& value) {
  if (value.is_device() || value.kind == Kind::host_tensor || value.kind == Kind::batch) {
    Value out = value;
    out.certainty =
        value.is_device() ? Certainty::proven : std::max(out.certainty, Certainty::likely);
    return out;
  }
  return likely(Kind::device_tensor);
}

}  // namespace

const TypedRange* Inference::type_at(NodeId id) const {
  if (!types_) return nullptr;
  const Node& node = ast_[id];
  if (node.column == 0 || node.kind == K::number || node.kind == K::string) return nullptr;
  // The parts of a::b::c have the bytes of the whole.
  if (node.role == Role::object && ast_[node.parent].first_byte == node.first_byte &&
      ast_[node.parent].last_byte == node.last_byte)
    return nullptr;
  return types_->at(node.first_byte, node.last_byte);
}

bool Inference::is_own_object(NodeId id) const {
  const TypedRange* type = type_at(id);
  if (!type || type->type != TypeClass::own) return false;
  // Another library's stream, whose code is not here, is one.
  const std::string_view name = types_->names[type->name];
  return classes_by_name_.contains(name) || !contains_any(name, {"stream", "event"});
}

Value Inference::typed(NodeId id, const Value& inferred) {
  const TypedRange* type = type_at(id);
  if (!type) return inferred;
  switch (type->type) {
    case TypeClass::unknown:
      return inferred;
    case TypeClass::tensor:
      // What another function returns may be a host tensor: the link decides.
      if (const Dependency* on = dependency(inferred);
          on && inferred.kind == Kind::unknown && on->kind == DependencyKind::returns)
        return inferred;
      return as_tensor(inferred);
    case TypeClass::tensor_list:
      return holds_tensors(inferred) ? inferred : likely(Kind::tensor_list);
    case TypeClass::number:
      return inferred.kind == Kind::shape ? inferred : surely(Kind::number, inferred);
    case TypeClass::text:
      return surely(Kind::text, inferred);
    case TypeClass::list:  // {torch::ones(n), torch::zeros(m)} too
      return inferred.kind == Kind::host_tensors ? inferred : surely(Kind::list, inferred);
    case TypeClass::module:
      return surely(Kind::module, inferred);
    case TypeClass::optimizer:
      return surely(Kind::optimizer, inferred);
    case TypeClass::loader:
      return surely(Kind::loader, inferred);
    case TypeClass::batch:
      return {Kind::batch, Certainty::proven, kLoaded, 0};
    case TypeClass::stream:
      return surely(Kind::stream, inferred);
    case TypeClass::device:
      return surely(Kind::device, inferred);
    case TypeClass::shape:
      return surely(Kind::shape, inferred);
    case TypeClass::other:
      return inferred.is_host() ? inferred : proven(Kind::other);
    case TypeClass::own: {
      // A record of a loader's is still what the loader yields.
      if (inferred.kind == Kind::batch || inferred.kind == Kind::loader) return inferred;
      Value out;
      out.dependency = depend(DependencyKind::instance, types_->names[type->name]);
      return out;
    }
  }
  return inferred;
}

}  // namespace stallscope
