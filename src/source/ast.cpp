#include "source/ast.h"

namespace stallscope {

NodeId Ast::ancestor(NodeId id, NodeKind kind) const {
  for (NodeId at = nodes[id].parent; at != kNoNode; at = nodes[at].parent) {
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
  while (nodes[at].parent != kNoNode) {
    NodeKind above = nodes[nodes[at].parent].kind;
    if (above == NodeKind::block || above == NodeKind::module) break;
    at = nodes[at].parent;
  }
  return at;
}

}  // namespace stallscope
