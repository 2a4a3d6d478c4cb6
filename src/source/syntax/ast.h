// Ast: one file's code as a flat array of nodes, the same for Python, C++ and
// CUDA. What differs between grammars ends here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stallscope {

using NodeId = uint32_t;  ///< index into Ast::nodes; 0 is the module
inline constexpr NodeId kNoNode = 0xffffffffu;

enum class NodeKind : uint8_t {
  other,
  module,
  block,
  function,
  class_,
  lambda,
  decorator,
  parameters,
  parameter,
  type,
  call,
  keyword,  ///< keyword argument
  attribute,
  name,
  number,
  string,
  interpolation,
  constant,  ///< True, False, None, nullptr
  ellipsis,
  subscript,
  slice,
  binary,
  unary,
  compare,
  boolean,
  conditional,
  assign,
  aug_assign,
  walrus,
  return_,
  yield,
  await,
  raise,
  assert_,
  delete_,
  if_,
  elif_,
  else_,
  for_,
  while_,
  with_,
  with_item,
  try_,
  except_,
  comprehension,
  comp_for,
  comp_if,
  tuple,
  list,
  set,
  dict,
  pair,
  star,
  import,
  import_from,
  import_name,
  global,
  leave,  ///< break and continue
  print,  ///< Python 2's statement
};

/// A node's part in its parent.
enum class Role : uint8_t {
  none,
  callee,
  argument,
  object,
  left,   ///< assignment target, left operand, loop variable
  right,  ///< assigned value, right operand, what a loop runs over
  condition,
  consequence,
  alternative,
  body,
  value,
  name,
  type,
  parameters,
  base,    ///< of a class
  index,   ///< of a subscript
  launch,  ///< <<<grid, block>>> of a kernel launch
};

struct Node {
  NodeKind kind = NodeKind::other;
  Role role = Role::none;
  uint16_t column = 0;  ///< 1-based; 0 = what a macro hides: it has its text, and no place
  NodeId parent = kNoNode, first_child = kNoNode, next = kNoNode;
  NodeId end = 0;  ///< one past the last node of this subtree: nodes are in pre-order
  uint32_t first_byte = 0, last_byte = 0;
  uint32_t first_line = 0, last_line = 0;  ///< 1-based
  std::string_view text;                   ///< name, attribute, operator, literal or declared type
};

enum class Grammar : uint8_t { python, cuda };

/// What stands at kNoNode: broken code leaves out what a grammar promises, so what reads a child
/// need not ask first whether it is there.
inline constexpr Node kNothing;

/// Owns nodes, not the text they point into.
struct Ast {
  std::vector<Node> nodes;
  std::string_view source;
  Grammar grammar = Grammar::python;
  uint32_t error_bytes = 0;  ///< of what the parser could not read
  uint32_t error_line = 0;   ///< where the first of it is; 0 = all was read

  const Node& operator[](NodeId id) const { return id == kNoNode ? kNothing : nodes[id]; }
  size_t size() const { return nodes.size(); }
  /// The first child with `role`, or kNoNode; so it is of kNoNode.
  NodeId child(NodeId id, Role role) const {
    NodeId at = (*this)[id].first_child;
    while (at != kNoNode && nodes[at].role != role) at = nodes[at].next;
    return at;
  }
  /// The nearest ancestor (not `id` itself) of that kind, or kNoNode.
  NodeId ancestor(NodeId id, NodeKind kind) const;
  /// Whether two nodes stand in different branches of one `if`: where one runs, the other does not.
  bool are_apart(NodeId one, NodeId other) const;
  /// The function, lambda-free, that holds `id`; 0 for module level.
  NodeId function_of(NodeId id) const;
  bool inside(NodeId id, NodeId of) const { return id >= of && id < (*this)[of].end; }
  std::string_view slice(NodeId id) const {
    const Node& node = (*this)[id];
    if (node.column == 0 && id != 0) return node.text;
    return source.substr(node.first_byte, node.last_byte - node.first_byte);
  }
  /// The statement that `id` is part of.
  NodeId statement_of(NodeId id) const;
  /// Whether the statement of `earlier` runs whenever `later` is come to: no branch of its own is
  /// around it.
  bool stands_before(NodeId earlier, NodeId later) const {
    return inside(later, (*this)[statement_of(earlier)].parent);
  }
};

/// Iterates over a node's children: for (NodeId c : children(ast, id)).
struct Children {
  const Ast& ast;
  NodeId first;
  struct Iterator {
    const Ast* ast;
    NodeId at;
    NodeId operator*() const { return at; }
    Iterator& operator++() {
      at = ast->nodes[at].next;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return at != o.at; }
  };
  Iterator begin() const { return {&ast, first}; }
  Iterator end() const { return {&ast, kNoNode}; }
};
inline Children children(const Ast& ast, NodeId id) {
  return {ast, ast[id].first_child};
}
/// The last of them; kNoNode if there is none.
inline NodeId last_child(const Ast& ast, NodeId id) {
  NodeId last = kNoNode;
  for (const NodeId c : children(ast, id)) last = c;
  return last;
}

/// The line of `source` that holds `first_byte`, without the blanks around it, cut at 200 bytes.
std::string_view line_text(std::string_view source, uint32_t first_byte);

/// Parses `source`; the result points into it. Never fails: broken code gives
/// the nodes that could be read. Nesting beyond kMaxNesting is cut off.
Ast parse_source(std::string_view source, Grammar grammar);
inline constexpr unsigned kMaxNesting = 400;

}  // namespace stallscope
