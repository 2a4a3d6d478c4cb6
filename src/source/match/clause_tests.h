// ClauseTests: what a clause asks of a node beside its name: arguments, and the
// code around and below it.
#pragma once

#include <functional>
#include <string_view>

#include "source/match/ruleset.h"

namespace stallscope {

/// Whether a value is of the kind a rule asks for, or may be once other files are known.
bool fits(const Value& value, const KindWord& wanted, Certainty least);

class ClauseTests {
 public:
  ClauseTests(const FileView& file, const FileFacts& facts)
      : file_(file), ast_(file.ast), facts_(facts) {}

  /// Whether an argument of `call` looks as the test wants it.
  bool argument_fits(NodeId call, const ArgumentTest& test) const;
  /// The numbers and constants of `call` that the tests ask for: False of pin_memory=False.
  std::vector<NodeId> literals_of(NodeId call, const std::vector<ArgumentTest>& tests) const;
  /// Whether what is around `id`, or below it, holds; the caller negates.
  bool nested_holds(NodeId id, const CompiledNested& nested) const;

 private:
  struct Argument {
    NodeId value = kNoNode;
    bool open = false;  ///< *args, **kwargs: may hold anything
  };
  Argument argument(NodeId call, const ArgumentTest& test) const;
  bool argument_is(NodeId found, std::string_view wanted) const;
  bool is_just_loaded(NodeId found) const;
  bool says(NodeId argument, std::string_view word) const;
  bool is_modules_function(NodeId name) const;
  bool is_one_number(NodeId argument) const;
  bool is_local_pointer(NodeId argument) const;
  bool node_is(NodeId id, std::string_view word) const;
  bool one(NodeId id, const CompiledNested& nested) const;
  bool with_has(NodeId with, const CompiledNested& nested) const;
  bool in_loop(NodeId id, std::string_view which) const;
  bool is_over_pytree(uint32_t loop) const;
  bool is_local_number(NodeId argument) const;
  bool is_from_malloc(std::string_view name) const;
  bool is_returned_pointer(NodeId argument) const;
  NodeId kept_as(std::string_view attribute) const;
  NodeId spread_options(NodeId star) const;
  NodeId entry_of(NodeId options, const std::function<bool(std::string_view)>& is_named) const;
  bool holds_all(NodeId star, NodeId options) const;
  bool uses_loop_variable(NodeId id) const;
  bool is_made_of_element(NodeId object, NodeId loop, unsigned hops) const;
  bool gives_elements(NodeId over) const;
  bool is_over_tensor(NodeId loop) const;
  bool binds(NodeId loop, std::string_view name) const;
  bool assigns_itself(NodeId id) const;

  const FileView& file_;
  const Ast& ast_;
  const FileFacts& facts_;
};

}  // namespace stallscope
