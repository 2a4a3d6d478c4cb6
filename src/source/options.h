// Options: parameters that have a default, and what runs only where they are given or left out.
#pragma once

#include "source/matcher.h"

namespace stallscope {

class Options {
 public:
  Options(const FileView& file, const FileFacts& facts)
      : file_(file), ast_(file.ast), facts_(facts) {}

  /// The parameter, None or False where it is left out, without which `id` does not run: under
  /// `if parameter:` or `if parameter is not None:`; or kNone.
  uint32_t needed_around(NodeId id) const;
  /// The parameter of which `if parameter is None:` around `id` makes the default, or kNone.
  uint32_t defaulted_around(NodeId id) const;
  /// The parameter that a bound under `id` is, where only `if parameter is None:` makes it a
  /// tensor; or kNone.
  uint32_t defaulted_bound(NodeId id) const;

 private:
  bool is_off_by_default(uint32_t function, std::string_view parameter) const;

  const FileView& file_;
  const Ast& ast_;
  const FileFacts& facts_;
};

}  // namespace stallscope
