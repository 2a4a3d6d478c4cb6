#include "source/match/origins.h"

#include <algorithm>

#include "source/syntax/words.h"
#include "source/values/apis.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// What a name was given last before its statement, if that made a tensor on the host; or kNoNode.
NodeId made_before(const FileView& file, NodeId name) {
  if (name == kNoNode || file.ast[name].kind != K::name) return kNoNode;
  if (file.inference.at(name).kind != Kind::host_tensor) return kNoNode;
  const NodeId made = file.inference.definition(file.outline.function_of[name], file.ast[name].text,
                                                file.ast.statement_of(name));
  if (made == kNoNode) return kNoNode;
  const NodeId whole =
      file.ast[made].kind == K::subscript ? file.ast.child(made, Role::object) : made;
  return whole != kNoNode && file.ast[whole].kind == K::call ? whole : kNoNode;
}

/// What the last assignment before a name, in its function, gives it alone or beside others:
/// (loss, aux), grads = grad_fn(params).
NodeId assigned_before(const FileView& file, NodeId name) {
  constexpr NodeId kFarthest = 4096;
  const Ast& ast = file.ast;
  NodeId found = kNoNode;
  const NodeId begin = file.outline.functions[file.outline.function_of[name]];
  for (NodeId at = std::max(begin, name - std::min(name, kFarthest)); at < name; ++at) {
    if (ast[at].kind != K::name || ast[at].text != ast[name].text) continue;
    NodeId up = at;
    while (ast[ast[up].parent].kind == K::tuple) up = ast[up].parent;
    if (ast[up].role == Role::left && ast[ast[up].parent].kind == K::assign)
      found = ast.child(ast[up].parent, Role::right);
  }
  return found;
}

/// loss, grads = jax.value_and_grad(loss_fn)(params), or of grad_fn that was made so: where the
/// function is made that gives a name its gradients; or kNoNode.
NodeId differentiated(const FileView& file, NodeId name) {
  const Ast& ast = file.ast;
  if (name == kNoNode || ast[name].kind != K::name || !contains_any(ast[name].text, {"grad"}) ||
      !file.names.uses_jax())
    return kNoNode;
  const NodeId given = assigned_before(file, name);
  if (given == kNoNode || ast[given].kind != K::call) return kNoNode;
  NodeId maker = ast.child(given, Role::callee);
  if (maker != kNoNode && ast[maker].kind == K::name) maker = assigned_before(file, maker);
  const NodeId by =
      maker != kNoNode && ast[maker].kind == K::call ? ast.child(maker, Role::callee) : kNoNode;
  return by != kNoNode && gives_gradients(file.names.resolve(by).path) ? maker : kNoNode;
}

}  // namespace

std::vector<NodeId> origins_of(const FileView& file, NodeId id, const Bindings& bindings) {
  std::vector<NodeId> out;
  const auto add = [&](NodeId name) {
    for (const NodeId made : {made_before(file, name), differentiated(file, name)}) {
      if (made != kNoNode && std::ranges::find(out, made) == out.end()) out.push_back(made);
    }
  };
  if (file.ast[id].kind == K::call) {
    const NodeId callee = file.ast.child(id, Role::callee);
    if (callee != kNoNode) add(file.ast.child(callee, Role::object));
    add(file.ast.child(id, Role::argument));
  }
  for (const auto& [name, bound] : bindings) add(bound);
  return out;
}

uint32_t anchor_of(const Ast& ast, NodeId id) {
  const NodeId callee = ast[id].kind == K::call ? ast.child(id, Role::callee) : kNoNode;
  return callee == kNoNode ? ast[id].first_line : ast[callee].last_line;
}

void add_lines(const Ast& ast, const std::vector<NodeId>& nodes, Candidate& to) {
  for (const NodeId node : nodes) {
    const uint32_t line = anchor_of(ast, node);
    if (line != to.anchor_line && std::ranges::find(to.also, line) == to.also.end())
      to.also.push_back(line);
  }
}

uint32_t line_of_printing(const Ast& ast, NodeId id) {
  const bool formatted =
      ast[id].kind == K::interpolation || ast.ancestor(id, K::interpolation) != kNoNode;
  const NodeId statement = ast.statement_of(id);
  return formatted && ast[statement].kind == K::call ? ast[statement].first_line : 0;
}

NodeId chain_of(const Ast& ast, NodeId id) {
  NodeId at = id;
  while (ast[at].parent != kNoNode) {
    const Node& parent = ast[ast[at].parent];
    const bool chain = (parent.kind == K::attribute && ast[at].role == Role::object) ||
                       (parent.kind == K::call && ast[at].role == Role::callee) ||
                       (parent.kind == K::subscript && ast[at].role == Role::object) ||
                       parent.kind == K::interpolation;
    if (!chain) break;
    at = ast[at].parent;
  }
  return at;
}

}  // namespace stallscope
