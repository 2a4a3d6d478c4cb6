#include "source/syntax/ast.h"

#include <algorithm>

namespace stallscope {

bool Ast::are_apart(NodeId one, NodeId other) const {
  for (NodeId at = one; at != kNoNode && !inside(other, at); at = nodes[at].parent) {
    const bool branch = nodes[at].role == Role::consequence || nodes[at].role == Role::alternative;
    if (branch && inside(other, nodes[at].parent)) return true;
  }
  return false;
}

NodeId Ast::ancestor(NodeId id, NodeKind kind) const {
  for (NodeId at = (*this)[id].parent; at != kNoNode; at = nodes[at].parent) {
    if (nodes[at].kind == kind) return at;
  }
  return kNoNode;
}

NodeId Ast::function_of(NodeId id) const {
  NodeId found = ancestor(id, NodeKind::function);
  return found == kNoNode ? 0 : found;
}

NodeId Ast::statement_of(NodeId id) const {
  NodeId at = id;
  while ((*this)[at].parent != kNoNode) {
    NodeKind above = nodes[nodes[at].parent].kind;
    if (above == NodeKind::block || above == NodeKind::module) break;
    at = nodes[at].parent;
  }
  return at;
}

std::string_view line_text(std::string_view source, uint32_t first_byte) {
  size_t start = source.rfind('\n', first_byte);
  start = start == std::string_view::npos ? 0 : start + 1;
  if (first_byte < source.size() && source[first_byte] == '\n') start = first_byte;
  const size_t end = std::min(source.find('\n', first_byte), source.size());
  std::string_view line = source.substr(start, end - start);
  const size_t text = line.find_first_not_of(" \t\r");
  line.remove_prefix(text == std::string_view::npos ? line.size() : text);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
    line.remove_suffix(1);
  return line.substr(0, 200);
}

}  // namespace stallscope
