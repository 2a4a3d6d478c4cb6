// Options: parameters that have a default, and what runs only where they are given or left out.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "source/match/matcher.h"

namespace stallscope {

class Options {
 public:
  Options(const FileView& file, const FileFacts& facts)
      : file_(file), ast_(file.ast), facts_(facts) {}

  /// The argument without which `id` does not run, under `if flag:`, `if mode == "slow":` of a
  /// parameter or of what the constructor keeps of one; or none.
  Option needed_around(NodeId id) const;
  /// The function's own **kwargs, if `id` reads what a loop over them yields; or none.
  Option keywords_read(NodeId id) const;
  /// The parameter of which `if parameter is None:` around `id` makes the default, or kNone.
  uint32_t defaulted_around(NodeId id) const;
  /// The parameter that a bound under `id` is, where only `if parameter is None:` makes it a
  /// tensor; or kNone.
  uint32_t defaulted_bound(NodeId id) const;

 private:
  Option turned_off(NodeId condition, uint32_t function) const;
  Option asked_by(NodeId condition, uint32_t function) const;
  Option wanted(std::string_view name, std::string_view literal, uint32_t function,
                NodeId asking) const;
  Option option_of(uint32_t function, std::string_view parameter, std::string_view literal,
                   NodeId asking) const;
  uint32_t constructor_of(uint32_t method) const;
  bool keeps_argument(uint32_t constructor, std::string_view name) const;
  bool is_off_by_default(uint32_t function, std::string_view parameter,
                         std::string_view literal) const;
  std::string_view default_of(uint32_t function, std::string_view parameter) const;

  /// What keeps_argument() has found.
  mutable std::map<std::pair<uint32_t, std::string_view>, bool> kept_;
  const FileView& file_;
  const Ast& ast_;
  const FileFacts& facts_;
};

}  // namespace stallscope
