#include "source/guards/kept_tables.h"

#include <algorithm>
#include <string_view>

#include "source/names/names.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// What a condition looks for, and where.
struct Lookup {
  NodeId table = kNoNode;
  NodeId key = kNoNode;  ///< kNoNode where it was looked for before: `it == table.end()`
  bool missing = false;  ///< the condition holds where the table lacks it
};

/// What a call of one of `names` is made on, or kNoNode.
NodeId receiver_of(const Ast& ast, NodeId call, std::initializer_list<std::string_view> names) {
  const NodeId callee = ast[call].kind == K::call ? ast.child(call, Role::callee) : kNoNode;
  return ast[callee].kind == K::attribute && is_one_of(ast[callee].text, names)
             ? ast.child(callee, Role::object)
             : kNoNode;
}

Lookup lookup_in(const Ast& ast, NodeId condition) {
  const Node& node = ast[condition];
  const NodeId left = node.first_child, right = ast[left].next;
  if (ast.grammar == Grammar::python)
    return node.kind == K::compare && (node.text == "in" || node.text == "not in")
               ? Lookup{right, left, node.text == "not in"}
               : Lookup{};
  if (node.kind == K::compare && (node.text == "==" || node.text == "!=")) {
    const NodeId table = receiver_of(ast, right, {"end", "cend"});
    const NodeId found = receiver_of(ast, left, {"find"});
    const NodeId key = found == kNoNode ? kNoNode : ast.child(left, Role::argument);
    return {table, key, node.text == "=="};
  }
  const bool negation = node.kind == K::unary && node.text == "!";
  const NodeId asked = negation ? left : condition;
  return {receiver_of(ast, asked, {"count", "contains"}), ast.child(asked, Role::argument),
          negation};
}

/// Whether `target`, or a part of it, is the variable `name`.
bool is_target(const Ast& ast, NodeId target, std::string_view name) {
  if (ast[target].kind == K::name) return ast[target].text == name;
  if (ast[target].kind != K::tuple && ast[target].kind != K::list) return false;
  for (const NodeId part : children(ast, target)) {
    if (is_target(ast, part, name)) return true;
  }
  return false;
}

/// Whether a variable is given its value inside `around`.
bool binds(const Ast& ast, NodeId around, std::string_view name) {
  bool bound = false;
  for (NodeId at = around; at < ast[around].end; ++at) {
    if (ast[at].kind == K::global && ast.slice(at).find(name) != std::string_view::npos)
      return false;
    bound |= ast[at].role == Role::left && is_target(ast, at, name);
    // An argument; but def f(x, cache={}) keeps its own.
    bound |= ast[at].kind == K::parameter && ast[at].text == name &&
             !is_one_of(ast.slice(ast.child(at, Role::value)), {"{}", "dict()"});
  }
  return bound;
}

/// static std::map<int, float*> made; within the function that asks it
bool is_static_local(const Ast& ast, NodeId table) {
  const NodeId function = ast.ancestor(table, K::function);
  if (function == kNoNode) return false;
  const std::string_view text = ast.slice(function), name = ast[table].text;
  const size_t asked = ast[table].first_byte - ast[function].first_byte;
  for (size_t at = text.find(name); at < asked; at = text.find(name, at + 1)) {
    if (!is_whole_identifier(text, at, name.size())) continue;
    const size_t before = text.find_last_of(";{}\n", at);
    std::string_view words = text.substr(before + 1, at - before - 1);
    words.remove_prefix(std::min(words.find_first_not_of(" \t\r\n"), words.size()));
    if (starts_with_any(words, {"static ", "thread_local "})) return true;
  }
  return false;
}

/// Whether what a table holds is still there when its function is called, or its loop runs, again.
bool outlives(const Ast& ast, NodeId table) {
  NodeId root = table;
  while (ast[root].kind == K::attribute || ast[root].kind == K::subscript)
    root = ast.child(root, Role::object);
  const std::string_view name = ast[root].text;
  if (ast[root].kind != K::name) return false;
  if (ast.grammar == Grammar::cuda)
    return name.ends_with('_') || starts_with_any(name, {"m_", "g_", "s_", "this"}) ||
           is_static_local(ast, root);
  if (name == "self" || name == "cls") return true;
  NodeId around = ast.ancestor(table, K::function);
  for (NodeId at = table; around == kNoNode && at != kNoNode; at = ast[at].parent) {
    if (ast[at].kind == K::for_ || ast[at].kind == K::while_) {
      NodeId outer = ast[at].parent;  // the outermost loop of a program
      while (outer != kNoNode && ast[outer].kind != K::for_ && ast[outer].kind != K::while_)
        outer = ast[outer].parent;
      if (outer == kNoNode) around = at;
    }
  }
  return around == kNoNode || !binds(ast, around, name);
}

/// Whether something is put into `table` inside `branch`.
bool puts_into(const Ast& ast, NodeId branch, std::string_view table) {
  for (NodeId at = branch; at < ast[branch].end; ++at) {
    if (ast[at].kind == K::subscript && ast[at].role == Role::left &&
        ast.slice(ast.child(at, Role::object)) == table)
      return true;
    const NodeId receiver = receiver_of(
        ast, at, {"add", "append", "setdefault", "emplace", "insert", "try_emplace", "push_back"});
    if (receiver != kNoNode && ast.slice(receiver) == table) return true;
  }
  return false;
}

}  // namespace

bool fills_table(const Ast& ast, NodeId condition, NodeId branch, bool negated) {
  if (ast[condition].kind == K::boolean) {
    for (const NodeId part : children(ast, condition)) {
      if (fills_table(ast, part, branch, negated)) return true;
    }
    return false;
  }
  const Lookup lookup = lookup_in(ast, condition);
  if (lookup.table == kNoNode || lookup.missing == negated) return false;
  // Each step has a number of its own.
  if (contains_any(ast.slice(lookup.key), {"step", "iter", "epoch"})) return false;
  return outlives(ast, lookup.table) && puts_into(ast, branch, ast.slice(lookup.table));
}

}  // namespace stallscope
