// Reads one file with libclang. Runs in a process of its own (clang_worker.h):
// what is read may crash it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "source/clang/api.h"
#include "source/facts/type_facts.h"

namespace stallscope {

/// A file to read, and how.
struct ClangRequest {
  std::string path;  ///< absolute: includes are looked for beside it
  std::string text;  ///< taken instead of what is on disk
  std::vector<std::string> arguments;
  std::vector<std::string> prefix;  ///< headers that are read before it
  std::string precompiled;          ///< where the compiled prefix is kept; empty = it is not
  /// The folder ATen of PyTorch's own headers, when the prefix has them; empty = it has not.
  std::string aten;
  /// A header that is compiled behind the prefix: what it makes of the prefix's templates need not
  /// be made for each file. Errors in it are none; empty = there is none.
  std::string uses;

  /// Whether the prefix takes seconds and hundreds of megabytes.
  bool heavy() const { return !aten.empty(); }
};

/// A parsed file, given back when it goes.
class ParsedFile {
 public:
  ParsedFile(const clang::Api& api, clang::TranslationUnit unit) : api_(&api), unit_(unit) {}
  ParsedFile(ParsedFile&& other) noexcept
      : api_(other.api_), unit_(std::exchange(other.unit_, nullptr)) {}
  ParsedFile& operator=(ParsedFile&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(unit_, other.unit_);
    return *this;
  }
  ~ParsedFile() {
    if (unit_) api_->disposeTranslationUnit(unit_);
  }
  clang::TranslationUnit get() const { return unit_; }
  explicit operator bool() const { return unit_ != nullptr; }

 private:
  const clang::Api* api_;
  clang::TranslationUnit unit_;
};

/// The types of a file, which stays parsed in `file`: giving its memory back takes time that
/// whoever waits for the types need not wait for. Errors in the code are none; an error is a file
/// that libclang gave up on.
Result<ClangTypes> read_types(const clang::Api& api, const ClangRequest& request, ParsedFile& file);

}  // namespace stallscope
