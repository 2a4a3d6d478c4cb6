// ModulePaths: which file a Python import means.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source/facts/facts.h"

namespace stallscope {

/// "losses" of a/losses.py and of a/losses/__init__.py.
std::string_view module_name(std::string_view path);

class ModulePaths {
 public:
  /// `files` must outlive it.
  explicit ModulePaths(std::span<const std::unique_ptr<FileFacts>> files);

  /// Whether `module`, as `from_file` imports it, perhaps relative, perhaps from a root we do not
  /// know, is `file`, or a package with it inside.
  bool matches(size_t file, std::string_view module, size_t from_file) const;

 private:
  std::span<const std::unique_ptr<FileFacts>> files_;
  std::vector<std::string> modules_;  ///< dotted path of each file
};

}  // namespace stallscope
