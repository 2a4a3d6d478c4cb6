#include "source/names/object_names.h"

#include <algorithm>
#include <string_view>

#include "source/names/iteration.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Whether a loop's variable, or one of those it unpacks, has that name.
bool binds(const Ast& ast, NodeId variable, std::string_view name) {
  if (ast[variable].kind != K::tuple) return ast[variable].text == name;
  for (const NodeId part : children(ast, variable)) {
    if (binds(ast, part, name)) return true;
  }
  return false;
}

/// What hands out the elements: x of enumerate(x) and x.items() in Python, else what is called.
NodeId source_of(const Ast& ast, NodeId call) {
  const NodeId callee = ast.child(call, Role::callee);
  if (ast.grammar != Grammar::python || callee == kNoNode) return callee;
  const std::string_view name = ast[callee].text;
  if (is_one_of(name, {"items", "values"})) return ast.child(callee, Role::object);
  return passes_elements(name) || is_one_of(name, {"enumerate", "zip"})
             ? ast.child(call, Role::argument)
             : callee;
}

/// layers in `for (auto& l : layers)` and `for (auto it = layers.rbegin(); ...)`, of `l` and
/// `it`.
NodeId container_of(const Ast& ast, NodeId element) {
  const std::string_view name = ast[element].text;
  for (NodeId at = ast[element].parent; at != kNoNode && ast[at].kind != K::function;
       at = ast[at].parent) {
    const NodeId body = ast[at].kind == K::for_ ? ast.child(at, Role::body) : kNoNode;
    // In `for (auto& layers : layers)` the container is another one.
    if (body == kNoNode || ast[element].first_byte < ast[body].first_byte) continue;
    const NodeId variable = ast.child(at, Role::left);
    if (variable != kNoNode && binds(ast, variable, name)) return ast.child(at, Role::right);
    for (NodeId c : children(ast, at)) {
      const NodeId iterator = ast[c].kind == K::assign ? ast.child(c, Role::left) : kNoNode;
      if (iterator == kNoNode || ast[iterator].text != name) continue;
      const NodeId begin = ast.child(c, Role::right);
      if (begin == kNoNode || ast[begin].kind != K::call ||
          !callee_name(ast, begin).ends_with("begin"))
        return kNoNode;
      return ast.child(ast.child(begin, Role::callee), Role::object);
    }
  }
  return kNoNode;
}

/// METRICS of state[keys.METRICS] and "metrics" of context["metrics"], where what holds the object
/// holds any others too; empty else.
std::string_view key_of(const Ast& ast, NodeId subscript) {
  const NodeId holder = ast.child(subscript, Role::object);
  const NodeId key = ast.child(subscript, Role::index);
  if (holder == kNoNode || key == kNoNode ||
      !is_one_of(ast[holder].text, {"state", "states", "context", "ctx", "components", "objects",
                                    "modules", "shared", "registry"}))
    return {};
  const bool named = ast[key].kind == K::string || ast[key].kind == K::attribute ||
                     (ast[key].kind == K::name && std::ranges::none_of(ast[key].text, [](char c) {
                        return c >= 'a' && c <= 'z';
                      }));
  return !named ? std::string_view() : ast[key].kind == K::string ? ast.slice(key) : ast[key].text;
}

}  // namespace

std::string object_name(const Ast& ast, NodeId object) {
  NodeId at = object;
  while (at != kNoNode &&
         (ast[at].kind == K::subscript || ast[at].kind == K::call || ast[at].kind == K::unary)) {
    if (ast[at].kind == K::subscript) {
      if (const std::string_view key = key_of(ast, at); !key.empty()) return std::string(key);
    }
    at = ast[at].kind == K::subscript ? ast.child(at, Role::object)
         : ast[at].kind == K::call    ? source_of(ast, at)
                                      : ast[at].first_child;
  }
  if (at == kNoNode || (ast[at].kind != K::name && ast[at].kind != K::attribute)) return {};
  // action_head.module: what DistributedDataParallel wraps
  if (ast[at].kind == K::attribute && ast[at].text == "module")
    return object_name(ast, ast.child(at, Role::object));
  const NodeId container = ast[at].kind == K::name ? container_of(ast, at) : kNoNode;
  return container == kNoNode ? std::string(ast[at].text) : object_name(ast, container);
}

}  // namespace stallscope
