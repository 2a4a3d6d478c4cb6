#include "source/clang/classify.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace stallscope {
namespace {

constexpr unsigned kDeepest = 12;  ///< of types inside types and bases of bases

constexpr std::array<std::string_view, 16> kLibraries = {
    "torch", "at",     "c10",     "c10d", "caffe2",   "std",    "cuda", "nccl",
    "cub",   "thrust", "cutlass", "cute", "pybind11", "cublas", "nv",   "__gnu_cxx"};

/// Types of libraries by name; those not here are `other` in std and unknown elsewhere.
const std::unordered_map<std::string_view, TypeClass>& named() {
  using T = TypeClass;
  static const std::unordered_map<std::string_view, T> types = {
      {"at.Tensor", T::tensor},
      {"at.TensorBase", T::tensor},
      {"at.indexing.TensorIndex", T::other},
      {"torch.nn.Module", T::module},
      {"torch.nn.ModuleHolder", T::module},
      {"torch.jit.Module", T::module},
      {"torch.jit.Object", T::module},
      {"torch.optim.Optimizer", T::optimizer},
      {"torch.nn.Cloneable", T::module},
      {"torch.data.DataLoaderBase", T::loader},
      {"torch.data.StatelessDataLoader", T::loader},
      {"torch.data.StatefulDataLoader", T::loader},
      {"torch.data.Example", T::batch},
      {"c10.Stream", T::stream},
      {"c10.Event", T::stream},
      {"c10.cuda.CUDAStream", T::stream},
      {"at.cuda.CUDAEvent", T::stream},
      {"CUstream_st", T::stream},
      {"CUevent_st", T::stream},
      {"ihipStream_t", T::stream},
      {"ihipEvent_t", T::stream},
      {"c10.Scalar", T::number},
      {"c10.SymInt", T::number},
      {"c10.SymFloat", T::number},
      {"c10.Half", T::number},
      {"c10.BFloat16", T::number},
      {"c10.Device", T::device},
      {"c10.TensorOptions", T::device},
      {"std.basic_string", T::text},
      {"std.basic_string_view", T::text},
      {"c10.basic_string_view", T::text},
      {"std.complex", T::number},
      {"std.atomic", T::number},
  };
  return types;
}

bool is_container(std::string_view name) {
  constexpr std::array<std::string_view, 12> kContainers = {
      "std.vector",           "std.array",       "std.deque", "std.list",
      "std.initializer_list", "std.pair",        "std.tuple", "std.span",
      "c10.ArrayRef",         "c10.SmallVector", "c10.List",  "c10.IListRef"};
  return std::ranges::find(kContainers, name) != kContainers.end();
}

/// What stands for what it holds.
bool is_holder(std::string_view name) {
  constexpr std::array<std::string_view, 8> kHolders = {
      "std.shared_ptr", "std.unique_ptr", "std.optional", "c10.intrusive_ptr",
      "c10.optional",   "c10.MaybeOwned", "std.weak_ptr", "std.reference_wrapper"};
  return std::ranges::find(kHolders, name) != kHolders.end();
}

/// torch::nn::Linear and torch::nn::LinearImpl, whose templated bases libclang does not show.
bool is_layer(std::string_view name) {
  constexpr std::string_view kNamespace = "torch.nn.";
  if (!name.starts_with(kNamespace)) return false;
  const std::string_view rest = name.substr(kNamespace.size());
  return rest.find('.') == std::string_view::npos && !rest.ends_with("Options") &&
         !rest.starts_with("Any");
}

bool is_number(int kind) {
  return (kind >= clang::kBool && kind <= clang::kLongDouble) || kind == clang::kFloat128 ||
         kind == clang::kHalf || kind == clang::kFloat16 || kind == clang::kBFloat16;
}

}  // namespace

bool is_library_name(const std::string& dotted) {
  const std::string_view root = std::string_view(dotted).substr(0, dotted.find('.'));
  return dotted.size() > root.size() && std::ranges::find(kLibraries, root) != kLibraries.end();
}

std::string TypeClassifier::qualified_name(clang::Cursor declaration) const {
  std::string out = api_.text(api_.getCursorSpelling(declaration));
  clang::Cursor at = api_.getCursorSemanticParent(declaration);
  for (unsigned depth = 0; depth < kDeepest; ++depth) {
    const bool scope = at.kind == clang::kNamespace || at.kind == clang::kClassDecl ||
                       at.kind == clang::kStructDecl || at.kind == clang::kClassTemplate;
    if (!scope) break;
    std::string name = api_.text(api_.getCursorSpelling(at));
    // std::__1, std::__cxx11, unnamed namespaces
    if (!name.empty() && !name.starts_with("__") && !name.starts_with('('))
      out.insert(0, name + ".");
    at = api_.getCursorSemanticParent(at);
  }
  return out;
}

clang::Type TypeClassifier::first_argument(clang::Type type) const {
  return api_.Type_getNumTemplateArguments(type) > 0 ? api_.Type_getTemplateArgumentAsType(type, 0)
                                                     : clang::Type{};
}

Classified TypeClassifier::classify(clang::Type given, unsigned depth) const {
  if (depth > kDeepest) return {};
  const clang::Type type = api_.getCanonicalType(given);
  if (is_number(type.kind)) return {TypeClass::number, {}};
  switch (type.kind) {
    case clang::kLValueReference:
    case clang::kRValueReference:
      return classify(api_.getPointeeType(type), depth + 1);
    case clang::kPointer: {
      const clang::Type to = api_.getCanonicalType(api_.getPointeeType(type));
      if (to.kind == clang::kCharS || to.kind == clang::kCharU) return {TypeClass::text, {}};
      // Whether numbers behind a pointer are on the host, the type does not say.
      return to.kind == clang::kRecord ? classify(to, depth + 1) : Classified{};
    }
    case clang::kEnum:
      return {TypeClass::number, {}};
    case clang::kConstantArray:
    case clang::kIncompleteArray:
    case clang::kVariableArray: {
      const Classified element = classify(api_.getArrayElementType(type), depth + 1);
      if (element.type == TypeClass::tensor) return {TypeClass::tensor_list, {}};
      return {};
    }
    case clang::kRecord:
      return of_record(type, depth);
    default:
      return {};
  }
}

Classified TypeClassifier::of_record(clang::Type type, unsigned depth) const {
  const clang::Cursor declaration = api_.getTypeDeclaration(type);
  const void* key = declaration.data[0];
  if (const auto found = known_.find(key); key && found != known_.end()) return found->second;
  const std::string name = qualified_name(declaration);
  Classified out;
  if (const auto found = named().find(name); found != named().end()) {
    out.type = found->second;
  } else if (is_holder(name)) {
    out = classify(first_argument(type), depth + 1);
  } else if (is_container(name)) {
    const Classified element = classify(first_argument(type), depth + 1);
    out.type = element.type == TypeClass::tensor || element.type == TypeClass::tensor_list
                   ? TypeClass::tensor_list
               : element.type == TypeClass::number && name == "c10.ArrayRef" ? TypeClass::shape
               : element.type == TypeClass::unknown                          ? TypeClass::unknown
                                                                             : TypeClass::list;
    // Tuples and pairs hold more than their first.
    if ((name == "std.tuple" || name == "std.pair") && out.type == TypeClass::list)
      out.type = TypeClass::unknown;
  } else if (const TypeClass base = of_bases(declaration, depth); base != TypeClass::unknown) {
    out.type = base;
  } else if (is_layer(name)) {
    out.type = TypeClass::module;
  } else if (name.starts_with("std.")) {
    // A function, a future, a map may be or hold anything.
    out.type = name.starts_with("std.chrono.") || name.starts_with("std.basic_") ||
                       name == "std.thread" || name == "std.mutex"
                   ? TypeClass::other
                   : TypeClass::unknown;
  } else if (!is_library_name(name) && !name.empty() && name.find('(') == std::string::npos) {
    out = {TypeClass::own, name.substr(name.rfind('.') + 1)};
  }
  if (key) known_[key] = out;
  return out;
}

/// What the classes that a class derives from make of it.
TypeClass TypeClassifier::of_bases(clang::Cursor declaration, unsigned depth) const {
  struct Search {
    const TypeClassifier* self;
    unsigned depth;
    TypeClass found = TypeClass::unknown;
  } search{this, depth, TypeClass::unknown};
  api_.visitChildren(
      declaration,
      [](clang::Cursor cursor, clang::Cursor, clang::ClientData data) {
        auto& in = *static_cast<Search*>(data);
        if (cursor.kind == clang::kCxxBaseSpecifier && in.found == TypeClass::unknown) {
          const Classified base =
              in.self->classify(in.self->api_.getCursorType(cursor), in.depth + 1);
          if (base.type != TypeClass::own) in.found = base.type;
        }
        return clang::kVisitContinue;
      },
      &search);
  return search.found;
}

}  // namespace stallscope
