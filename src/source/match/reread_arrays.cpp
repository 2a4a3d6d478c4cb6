#include "source/match/reread_arrays.h"

#include <string_view>

#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// What a node reads to the host, or kNoNode.
NodeId read_by(const FileView& file, NodeId id) {
  const Ast& ast = file.ast;
  if (ast[id].kind == K::interpolation) return ast.child(id, Role::value);
  if (ast[id].kind != K::call) return kNoNode;
  const NodeId callee = ast.child(id, Role::callee), first = ast.child(id, Role::argument);
  if (callee == kNoNode) return kNoNode;
  const std::string_view name = ast[callee].text;
  if (ast[callee].kind == K::name)
    return is_one_of(name, {"float", "int", "bool", "str"}) ? first : kNoNode;
  if (is_one_of(name, {"item", "tolist"})) return ast.child(callee, Role::object);
  return is_one_of(file.names.resolve(callee).path,
                   {"numpy.asarray", "numpy.array", "jax.device_get"})
             ? first
             : kNoNode;
}

/// x, self.x and x["loss"] are the same array where they are named again; f(x) is another one.
bool is_kept(const Ast& ast, NodeId value) {
  while (ast[value].kind == K::attribute || ast[value].kind == K::subscript) {
    const NodeId index = ast.child(value, Role::index);
    if (index != kNoNode && ast[index].kind != K::string) return false;
    value = ast.child(value, Role::object);
  }
  return value != kNoNode && ast[value].kind == K::name;
}

/// Whether whoever comes to `later` has passed `earlier`: no branch or loop around it ends between.
bool always_passes(const Ast& ast, NodeId earlier, NodeId later) {
  for (NodeId at = earlier; at != kNoNode && !ast.inside(later, at); at = ast[at].parent) {
    switch (ast[at].kind) {
      case K::if_:
      case K::elif_:
      case K::else_:
      case K::for_:
      case K::while_:
      case K::try_:
      case K::except_:
      case K::comprehension:
      case K::conditional:
      case K::lambda:
      case K::function:
        return false;
      default:
        break;
    }
  }
  return true;
}

/// Whether an assignment gives the name that `value` starts with to something else.
bool rebinds(const Ast& ast, NodeId assignment, std::string_view root) {
  const NodeId left = ast.child(assignment, Role::left);
  for (NodeId at = left; at != kNoNode && at < ast[left].end; ++at) {
    if (ast[at].kind == K::name && ast[at].text == root) return true;
  }
  return false;
}

}  // namespace

bool was_read_before(const FileView& file, NodeId read) {
  const Ast& ast = file.ast;
  if (ast.grammar != Grammar::python || !file.names.uses_jax()) return false;
  const bool whole = ast[read].kind == K::call || ast[read].kind == K::interpolation;
  const NodeId value = whole ? read_by(file, read) : read;
  if (value == kNoNode || !is_kept(ast, value)) return false;
  const std::string_view text = ast.slice(value), root = first_component(text);
  const std::string_view name = root.substr(0, root.find('['));
  const uint32_t function = file.outline.function_of[read], loop = file.outline.loop_of[read];
  constexpr NodeId kFarthest = 4096;  ///< nodes that are looked back over
  NodeId at = file.outline.functions[function];
  if (read - at > kFarthest) at = read - kFarthest;
  bool known = false;
  for (; at < read; ++at) {
    if (file.outline.function_of[at] != function || file.outline.loop_of[at] != loop) continue;
    if ((ast[at].kind == K::assign || ast[at].kind == K::aug_assign) && rebinds(ast, at, name))
      known = false;
    if (known || ast.inside(read, at)) continue;
    const NodeId before = read_by(file, at);
    known = before != kNoNode && ast.slice(before) == text && always_passes(ast, at, read);
  }
  return known;
}

}  // namespace stallscope
