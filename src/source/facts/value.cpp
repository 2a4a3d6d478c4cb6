#include "source/facts/value.h"

#include <algorithm>
#include <array>

#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {

Value merge(const Value& a, const Value& b) {
  if (a.kind == b.kind) {
    Value out = a;
    out.certainty = std::min(a.certainty, b.certainty);
    out.flags = a.flags | b.flags;
    // Of one class or another.
    if (a.kind == Kind::module && a.dependency != b.dependency) out.dependency = 0;
    return out;
  }
  if (a.kind == Kind::unknown && b.kind == Kind::none) return a;
  if (a.kind == Kind::none || (a.kind == Kind::unknown && b.kind != Kind::unknown)) {
    Value out = b;
    out.certainty = std::min(out.certainty, Certainty::likely);
    return out;
  }
  if (b.kind == Kind::none || b.kind == Kind::unknown) return merge(b, a);
  if (a.is_device() && b.is_device()) return likely(Kind::device_tensor, a.flags | b.flags);
  // The host tensor is the fallback of one branch.
  if (a.kind == Kind::host_tensor && b.is_device()) return likely(b.kind, b.flags);
  if (b.kind == Kind::host_tensor && a.is_device()) return likely(a.kind, a.flags);
  // A running total starts as a number and becomes a tensor.
  if (a.kind == Kind::number && b.is_device()) return likely(b.kind, b.flags);
  if (b.kind == Kind::number && a.is_device()) return likely(a.kind, a.flags);
  if (a.is_host() && b.is_host()) return likely(Kind::other);
  return {};
}

Value join(const Value& a, const Value& b) {
  // `h = given if given else zeros(...)`: where it is made, it is made on the host.
  for (const Value* one : {&a, &b}) {
    const Value& other = one == &a ? b : a;
    if (one->kind == Kind::host_tensor && one->has(kFresh) && other.kind == Kind::unknown)
      return likely(Kind::host_tensor, one->flags);
  }
  if (a.kind == Kind::unknown && !b.is_device()) return a;
  if (b.kind == Kind::unknown && !a.is_device()) return b;
  return merge(a, b);
}

namespace {

/// Dict[str, torch.Tensor], Mapping[str, "Tensor"]
bool maps_to_tensors(std::string_view type) {
  const size_t open = type.find('['), comma = type.find(',');
  if (open == std::string_view::npos || comma == std::string_view::npos || !type.ends_with(']'))
    return false;
  const std::string_view head = type.substr(0, open);
  std::string_view value = type.substr(comma + 1, type.size() - comma - 2);
  value.remove_prefix(std::min(value.find_first_not_of(" '\""), value.size()));
  while (value.ends_with('"') || value.ends_with('\'')) value.remove_suffix(1);
  return contains_any(head, {"dict", "mapping"}) && is_one_of(value, {"Tensor", "torch.Tensor"});
}

}  // namespace

Value value_of_type(std::string_view type) {
  const bool container = contains_any(type, {"list[", "dict[", "tuple[", "sequence[", "iterable[",
                                             "callable", "vector<", "tuple<", "pair<", "mapping["});
  const bool optional = contains_any(type, {"optional", "none", "union", "|"});
  const Certainty certainty = optional ? Certainty::likely : Certainty::proven;
  if (contains_any(type,
                   {"packedsequence", "tensordataset", "tensorboard", "tensordict", "tensoroptions",
                    "accessor", "tensorinfo", "tensordesc", "tensorshape", "tensoriterator"}))
    return {};
  if (type.find("Callable") != std::string_view::npos) return {};
  if (contains_any(type, {"jax.array", "jnp.ndarray", "chex.array", "float[array", "int[array"}) ||
      type == "Array") {
    return {container ? Kind::unknown : Kind::jax_array, certainty, kJax, 0};
  }
  // jaxtyping: Float[Tensor, "batch 3"]
  if (size_t bracket = type.find("[Tensor"); bracket != std::string_view::npos && bracket < 12) {
    std::string_view element = type.substr(0, bracket);
    if (element == "Bool") return likely(Kind::mask);
    if (element == "Float" || element == "Int" || element == "Shaped" || element == "Num" ||
        element == "UInt8" || element == "Int64" || element == "Float32" || element == "Complex")
      return likely(Kind::device_tensor);
  }
  if (type.find("Tensor") != std::string_view::npos) {
    if (type.find("BoolTensor") != std::string_view::npos)
      return {container ? Kind::tensor_list : Kind::mask, Certainty::likely, 0, 0};
    if (maps_to_tensors(type)) return likely(Kind::tensor_dict);
    if (type.find("FloatTensor") == std::string_view::npos &&
        type.find("IntTensor") == std::string_view::npos &&
        contains_any(type, {"float", "int", "ndarray", "str", "bool"}))
      return {};
    return {container ? Kind::tensor_list : Kind::device_tensor, Certainty::likely, 0, 0};
  }
  if (container) return {};
  if (contains_any(type, {"ndarray"})) return {Kind::numpy, certainty, 0, 0};
  if (type == "nn.Module" || type == "torch.nn.Module" || type == "Module")
    return proven(Kind::module);
  // torch::nn::Linear, nn::Sequential: what a class of LibTorch's holds
  if (const size_t scope = type.find("nn::"); scope != std::string_view::npos &&
                                              (scope == 0 || type[scope - 1] == ':') &&
                                              !type.ends_with("Options"))
    return likely(Kind::module);
  if (contains_any(type, {"optimizer"}) && !contains_any(type, {"config", "args"}))
    return likely(Kind::optimizer);
  if (contains_any(type, {"dataloader"})) return likely(Kind::loader);
  if (optional && contains_any(type, {"tensor", "any"})) return {};
  if (type == "int" || type == "float" || type == "bool" || type == "double" || type == "size_t" ||
      type == "int64_t" || type == "Optional[int]" || type == "Optional[float]" ||
      type == "Optional[bool]" || type == "int | None" || type == "float | None" ||
      type == "bool | None" || type == "unsigned" || type == "long") {
    return {Kind::number, certainty, 0, 0};
  }
  if (type == "str" || type == "Optional[str]" || type == "std::string" || type == "str | None")
    return {Kind::text, certainty, 0, 0};
  if (type == "torch.Size" || type == "Size") return proven(Kind::shape);
  if (type == "torch.device" || type == "torch.dtype" || type == "torch::Device")
    return proven(Kind::device);
  return {};
}

namespace {

constexpr std::array<std::string_view, 2> kPointers = {"unique_ptr<", "shared_ptr<"};

/// Where `pointer` stands in a type, which may be a program's own dev_shared_ptr<float>: npos then.
size_t pointer_in(std::string_view type, std::string_view pointer) {
  const size_t at = type.find(pointer);
  return at == 0 || at == std::string_view::npos || !is_identifier_char(type[at - 1])
             ? at
             : std::string_view::npos;
}

}  // namespace

bool names_pointer(std::string_view type) {
  return std::ranges::any_of(kPointers, [&](std::string_view pointer) {
    return pointer_in(type, pointer) != std::string_view::npos;
  });
}

std::string_view declared_class(std::string_view type) {
  for (std::string_view pointer : kPointers) {
    const size_t at = pointer_in(type, pointer);
    if (at == std::string_view::npos) continue;
    type.remove_prefix(at + pointer.size());
    type = type.substr(0, type.rfind('>'));
  }
  for (std::string_view word : {"const ", "struct ", "class "}) {
    if (type.starts_with(word)) type.remove_prefix(word.size());
  }
  type = type.substr(0, type.find_first_of("<*& "));
  if (const size_t scope = type.rfind("::"); scope != std::string_view::npos) {
    if (type.starts_with("std::") || type.starts_with("torch::") || type.starts_with("at::"))
      return {};
    type.remove_prefix(scope + 2);
  }
  constexpr std::array<std::string_view, 16> kNoClasses = {
      "auto",  "void",   "int",  "bool", "float",    "double",   "char",  "long",
      "short", "signed", "half", "uint", "unsigned", "Variable", "array", "NDArray"};
  if (type.empty() || type.ends_with("_t") || !std::ranges::all_of(type, is_identifier_char) ||
      std::ranges::find(kNoClasses, type) != kNoClasses.end())
    return {};
  return type;
}

Value element_of(const Value& container) {
  switch (container.kind) {
    case Kind::device_tensor:
    case Kind::mask:
    case Kind::jax_array:
    case Kind::host_tensor:
    case Kind::numpy:
    case Kind::batch: {
      Value out = container;
      out.certainty = std::min(out.certainty, Certainty::likely);
      return out;
    }
    case Kind::host_tensors:
      return likely(Kind::host_tensor, container.flags & (kAttribute | kFresh));
    case Kind::tensor_list:
      return likely(Kind::device_tensor, container.flags & (kParameterLoop | kModuleOutput));
    case Kind::parameters:
    case Kind::parameter:
      return likely(Kind::parameter, kParameterLoop);
    case Kind::tensor_dict:
      return likely(Kind::text);
    case Kind::shape:
      return likely(Kind::number);
    case Kind::loader:
      return container.has(kModuleOutput) ? likely(Kind::tensor_list, kModuleOutput)
                                          : likely(Kind::batch, kLoaded);
    case Kind::list:
      return container.certainty == Certainty::unknown ? Value{} : likely(Kind::other);
    default:
      return {};
  }
}

}  // namespace stallscope
