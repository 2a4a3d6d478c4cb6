// Switches: the options without which a place does not run, by the conditions around it.
#pragma once

#include <string_view>
#include <vector>

#include "source/facts/facts.h"
#include "source/syntax/ast.h"

namespace stallscope {

class Switches {
 public:
  /// Lists are kept in `facts.switches`; both must outlive this.
  Switches(const Ast& ast, FileFacts& facts);

  /// The list of those of everything around `id` inside its function, nearest first; of Python.
  uint32_t around(NodeId id);
  /// The nearest name that must be on, or given, for `id` to run inside its function; 0 if none is.
  uint32_t needed_around(NodeId id) const;
  /// The first that must be for `condition` to hold.
  uint32_t needed_by(NodeId condition) const;

 private:
  static constexpr size_t kMost = 4;
  static constexpr uint32_t kNotAsked = 0xffffffffu;
  uint32_t around_statement(NodeId statement);
  NodeId collect(NodeId id, std::vector<Switch>& out) const;
  void of_condition(NodeId condition, bool holds, std::vector<Switch>& out) const;
  void of_compare(NodeId compare, bool holds, std::vector<Switch>& out) const;
  void add(NodeId asked, Switch::Test test, uint32_t value, std::vector<Switch>& out) const;
  uint32_t keep(std::vector<Switch> list, uint32_t around);
  std::string_view name_of(NodeId asked) const;

  const Ast& ast_;
  FileFacts& facts_;
  std::vector<uint32_t> of_statement_;  ///< per node, the list around a statement
};

}  // namespace stallscope
