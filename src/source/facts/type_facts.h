// ClangTypes: what libclang adds to one C++ or CUDA file: the types of its
// expressions, what calls resolve to, and the calls its macros hide. Structure
// stays tree-sitter's; the two meet by byte ranges of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

/// What a C++ type is to the rules.
enum class TypeClass : uint8_t {
  unknown,  ///< not resolved, or of a library that could hold anything
  tensor,
  tensor_list,
  number,
  text,
  list,
  module,
  optimizer,
  loader,
  batch,
  stream,  ///< a stream or an event
  device,  ///< devices, options, element types
  shape,
  other,  ///< a library's object that holds no tensor
  own,    ///< a class of the program
};

/// An expression or a declared name, at bytes [first, last) of the text.
struct TypedRange {
  uint32_t first = 0, last = 0;
  TypeClass type = TypeClass::unknown;
  uint32_t name = 0;  ///< index into ClangTypes::names: the class, of TypeClass::own
};

/// A call of a library's function: "torch.cuda.synchronize", "cudaMemcpy".
struct ResolvedCall {
  uint32_t first = 0, last = 0;
  uint32_t name = 0;
};

/// A part of a hidden call: text of the file where it has some, else a name.
struct HiddenPart {
  uint32_t first = 0, last = 0;  ///< equal when the macro's own text says it
  uint32_t name = 0;
};

/// A call in the body of a macro that is used at bytes [first, last).
struct HiddenCall {
  uint32_t first = 0, last = 0;
  uint32_t name = 0;
  bool method = false;
  HiddenPart receiver;  ///< of a method
  std::vector<HiddenPart> arguments;
};

/// A file that was read on the way, to know when the types are out of date.
struct HeaderStamp {
  std::string path;
  uint64_t bytes = 0;
  int64_t modified_ns = 0;

  bool operator==(const HeaderStamp&) const = default;
};

struct ClangTypes {
  std::vector<std::string> names = {""};
  std::vector<TypedRange> types;    ///< by range
  std::vector<ResolvedCall> calls;  ///< by range
  std::vector<HiddenCall> hidden;   ///< by place
  std::vector<HeaderStamp> headers;
  bool real_headers = false;  ///< PyTorch's own were read, not the stubs

  /// The type at exactly these bytes; null when nothing is known.
  const TypedRange* at(uint32_t first, uint32_t last) const;
  /// The library function called at exactly these bytes; empty when none is known.
  std::string_view callee(uint32_t first, uint32_t last) const;
};

/// What a file is now; nothing when there is none.
std::optional<HeaderStamp> stamp_of(const std::string& path);

/// As bytes, for a pipe or the cache; equal types give equal bytes.
std::string to_bytes(const ClangTypes& types);
/// The reverse; false when the bytes are damaged.
bool from_bytes(std::string_view bytes, ClangTypes& out);

}  // namespace stallscope
