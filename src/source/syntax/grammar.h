// What each grammar's node types and fields become in the Ast: tables only.
#pragma once

#include <tree_sitter/api.h>

#include <vector>

#include "source/syntax/ast.h"

namespace stallscope {

/// What becomes of a concrete node.
enum class Action : uint8_t {
  keep,     ///< a node with children
  leaf,     ///< a node whose text is its source; children are not looked at
  flatten,  ///< its children take its place and its role
  cast,     ///< C++: what is cast takes its place and its role, the type goes
  skip,
  declaration,     ///< C++: one assignment per declarator
  declarator,      ///< C++: names what it declares
  qualified_name,  ///< C++: a::b::c, nested to the right in the grammar
  initializer,     ///< C++: member(value) in front of a constructor's body, an assignment
};

struct Spec {
  NodeKind kind = NodeKind::other;
  Action action = Action::keep;
};

/// A grammar with its tables indexed by symbol and field.
struct GrammarTables {
  const TSLanguage* language = nullptr;
  std::vector<Spec> specs;
  std::vector<Role> roles;
  TSFieldId operator_field = 0, operators_field = 0, attribute_field = 0, field_field = 0,
            name_field = 0;
};
const GrammarTables& grammar_tables(Grammar grammar);

}  // namespace stallscope
