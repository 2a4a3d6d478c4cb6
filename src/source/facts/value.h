// Value: what forward inference knows about an expression.
#pragma once

#include <cstdint>
#include <string_view>

#include "source/facts/source_fact.h"
#include "source/facts/vocabulary.h"

namespace stallscope {

/// Where a value came from, when a rule cares.
enum ValueFlag : uint8_t {
  kFresh = 1,          ///< made by a factory on the host in this function
  kFromHost = 2,       ///< built from Python or NumPy data
  kParameterLoop = 4,  ///< derived from the variable of a loop over parameters
  kModuleOutput = 8,   ///< what a module returned: a tensor, tuple or record of them
  kJax = 16,           ///< of a JAX program
  kLoaded = 32,        ///< a batch or part of it
  kJitted = 64,        ///< a compiled function
  kAttribute = 128,    ///< kept on self
};

/// How a value depends on something in another function or file.
enum class DependencyKind : uint8_t {
  none,
  returns,    ///< what a function gives
  parameter,  ///< what callers hand in
  instance,   ///< an object of a class
  function,   ///< a function of the program's, as a value
  either,     ///< one of two others, depending on the path
  element,    ///< what iterating over or unpacking another gives
  part,       ///< what a function gives at a position of a tuple: `loss, norm = step(x)`
  method,     ///< what a method of another gives: `agent.update(batch)`
  entry,      ///< what another, a mapping, holds under a name, or under all
  derived     ///< computed by PyTorch from another, on the side where that is: `x.float().std()`
};

struct Value {
  Kind kind = Kind::unknown;
  Certainty certainty = Certainty::unknown;
  uint8_t flags = 0;
  uint32_t dependency = 0;  ///< 1 + index into FileFacts::dependencies; 0 = none

  bool is_device() const {
    return kind == Kind::device_tensor || kind == Kind::mask || kind == Kind::parameter ||
           kind == Kind::jax_array;
  }
  bool is_host() const {
    return kind == Kind::host_tensor || kind == Kind::numpy || kind == Kind::number ||
           kind == Kind::text || kind == Kind::none || kind == Kind::other || kind == Kind::list ||
           kind == Kind::host_tensors || kind == Kind::shape || kind == Kind::device ||
           kind == Kind::batch;
  }
  bool has(ValueFlag flag) const { return (flags & flag) != 0; }
};

inline Value proven(Kind kind, uint8_t flags = 0) {
  return {kind, Certainty::proven, flags, 0};
}
inline Value likely(Kind kind, uint8_t flags = 0) {
  return {kind, Certainty::likely, flags, 0};
}

/// What only the dependency with this number tells (Value::dependency).
inline Value depending_on(uint32_t dependency) {
  return {Kind::unknown, Certainty::unknown, 0, dependency};
}

/// The value of a variable that holds `a` or `b`, depending on the path.
Value merge(const Value& a, const Value& b);

/// The same where the two paths exclude each other: what one of them does not know stays unknown.
Value join(const Value& a, const Value& b);

/// What iterating over or unpacking `container` gives; the values of a dictionary.
Value element_of(const Value& container);

/// What a declared type says: "torch.Tensor", "Optional[Tensor]", "int", "const at::Tensor&".
Value value_of_type(std::string_view type);

/// Whether a type of C++ names a smart pointer of the standard library: std::shared_ptr<Buffer>,
/// std::vector<unique_ptr<Buffer>>.
bool names_pointer(std::string_view type);
/// The class that a declaration of C++ names, "Layer" of "const nn::Layer<T>&" and of
/// "std::unique_ptr<Layer>"; empty for auto, numbers and what belongs to std or PyTorch.
std::string_view declared_class(std::string_view type);

}  // namespace stallscope
