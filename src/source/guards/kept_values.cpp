#include "source/guards/kept_values.h"

#include <string>
#include <utility>

#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// The block of an `else`.
NodeId body_of(const Ast& ast, NodeId branch) {
  const NodeId inner = ast[branch].kind == K::else_ ? ast[branch].first_child : kNoNode;
  return inner != kNoNode && ast[inner].kind == K::block ? inner : branch;
}

}  // namespace

bool brings_up_to_date(const Ast& ast, NodeId condition, NodeId body, bool negated) {
  // `if (input == nullptr || batch_ != n) { batch_ = n; ...`; `if a == b and n == size: return`
  const std::string_view joined = ast[condition].kind == K::boolean ? ast[condition].text : "";
  if (negated ? joined == "and" || joined == "&&" : joined == "or" || joined == "||") {
    for (NodeId part : children(ast, condition)) {
      if (brings_up_to_date(ast, part, body, negated)) return true;
    }
    return false;
  }
  if (ast[condition].kind != K::compare || (ast[condition].text == "==") != negated) return false;
  const NodeId left = ast[condition].first_child;
  const NodeId right = left == kNoNode ? kNoNode : ast[left].next;
  if (right == kNoNode) return false;
  const auto is_member = [&](NodeId side) {
    return ast[side].kind == K::attribute ||
           (ast.grammar == Grammar::cuda && ast[side].kind == K::name);
  };
  for (const auto& [kept, wanted] : {std::pair(left, right), std::pair(right, left)}) {
    if (!is_member(kept)) continue;
    for (NodeId at : children(ast, body)) {
      // `int n = size;` declares another one
      if (ast[at].kind != K::assign ||
          (ast.grammar == Grammar::cuda && !ast[at].text.empty() && ast[at].text != "="))
        continue;
      const NodeId to = ast.child(at, Role::left), from = ast.child(at, Role::right);
      if (to != kNoNode && from != kNoNode && ast.slice(to) == ast.slice(kept) &&
          ast.slice(from) == ast.slice(wanted))
        return true;
    }
  }
  return false;
}

namespace {

/// `if (self.nx, self.ny) != (nx, ny): self.create_grids(nx, ny)`
bool makes_anew(const Ast& ast, NodeId condition, NodeId body) {
  const NodeId first = ast[body].kind == K::block ? ast[body].first_child : kNoNode;
  if (ast[condition].kind != K::compare || ast[condition].text != "!=" || first == kNoNode ||
      ast[first].kind != K::call)
    return false;
  const NodeId callee = ast.child(first, Role::callee);
  return ast.slice(condition).find("self.") != std::string_view::npos &&
         ast.slice(callee).starts_with("self.") &&
         contains_any(ast[callee].text,
                      {"create", "make", "build", "update", "set", "init", "reset"});
}

/// `if step is None: step = jit(f); self.steps[key] = step`: kept under another name.
bool keeps_what_was_missing(const Ast& ast, NodeId condition, NodeId body) {
  const bool negation = ast[condition].kind == K::unary && ast[condition].text == "not";
  const NodeId name = ast[condition].first_child;
  if (name == kNoNode || ast[name].kind != K::name ||
      !(negation || ast.slice(condition).ends_with(" is None")))
    return false;
  for (NodeId at : children(ast, body)) {
    if (ast[at].kind != K::assign) continue;
    // step = self.steps[key] = jit(f)
    const NodeId chained = ast.child(at, Role::right);
    const bool chain = chained != kNoNode && ast[chained].kind == K::assign;
    const NodeId to = ast.child(chain ? chained : at, Role::left);
    const NodeId from = chain ? ast.child(at, Role::left) : chained;
    // Not `batch.maps[key] = map`: the next batch has none.
    const std::string_view place = to == kNoNode ? std::string_view() : ast.slice(to);
    const bool lasts =
        starts_with_any(place, {"self.", "cls.", "_"}) || contains_any(place, {"cache"});
    if (lasts && from != kNoNode && ast.slice(from) == ast.slice(name)) return true;
  }
  return false;
}

/// What `!data`, `data == nullptr` and `nullptr == data` ask for; kNoNode of other conditions.
NodeId missing_pointer(const Ast& ast, NodeId condition) {
  const NodeId left = ast[condition].first_child;
  if (ast[condition].kind == K::unary && ast[condition].text == "!") return left;
  if (ast[condition].kind != K::compare || ast[condition].text != "==") return kNoNode;
  const auto is_null = [&](NodeId side) { return is_one_of(ast.slice(side), {"nullptr", "NULL"}); };
  const NodeId right = ast[left].next;
  return is_null(right) ? left : is_null(left) ? right : kNoNode;
}

/// C++: `if (!data_) check(cudaMalloc(&data_, bytes));`, `if (!data) data = make_unique<Data>(n);`,
/// of what the function does not declare.
bool fills_member(const Ast& ast, NodeId condition, NodeId body) {
  const NodeId what = ast.grammar == Grammar::cuda ? missing_pointer(ast, condition) : kNoNode;
  const std::string name(ast.slice(what));
  const std::string_view function = ast.slice(ast.ancestor(condition, K::function));
  const bool declared =
      ast[what].kind == K::name && (function.find("*" + name) != std::string_view::npos ||
                                    function.find("* " + name) != std::string_view::npos ||
                                    function.find("> " + name) != std::string_view::npos);
  if (name.empty() || declared) return false;
  const std::string_view text = ast.slice(body);
  for (const char* made : {" = new ", " = std::make_", " = make_", ".reset(new ", ".reset(new("}) {
    const size_t at = text.find(name + made);
    if (at != std::string_view::npos && is_whole_identifier(text, at, name.size())) return true;
  }
  for (const std::string_view before : {"&", "&("}) {
    const size_t at = text.find(std::string(before) + name);
    if (at != std::string_view::npos && is_whole_identifier(text, at + before.size(), name.size()))
      return true;
  }
  return false;
}

/// Whether `flag` is an element of what its function does not name before, or declares static:
/// made[device] of a table of the program's.
bool is_of_own_table(const Ast& ast, NodeId flag) {
  const NodeId table = ast.child(flag, Role::object);
  const NodeId function = ast.ancestor(flag, K::function);
  if (table == kNoNode || function == kNoNode || ast[table].kind != K::name) return false;
  const size_t here = ast[table].first_byte - ast[function].first_byte;
  const std::string_view before = ast.slice(function).substr(0, here);
  if (!holds_identifier(before, ast[table].text)) return true;
  const std::string_view declared = before.substr(0, before.find(ast[table].text));
  return holds_identifier(declared.substr(declared.find_last_of(";{}") + 1), "static");
}

/// C++: `static bool made; if (!made) { made = true; ...`, of what outlives the function; and
/// `if (!made[device]) { made[device] = 1; ...`.
bool runs_once(const Ast& ast, NodeId condition, NodeId body) {
  if (ast.grammar != Grammar::cuda || ast[condition].kind != K::unary || ast[condition].text != "!")
    return false;
  const NodeId flag = ast[condition].first_child;
  const std::string name(ast.slice(flag));
  const std::string_view function = ast.slice(ast.ancestor(condition, K::function));
  if (name.empty() || (function.find("bool " + name) != std::string_view::npos &&
                       function.find("static bool " + name) == std::string_view::npos))
    return false;
  const bool counted = ast[flag].kind == K::subscript && is_of_own_table(ast, flag);
  for (NodeId at : children(ast, body)) {
    const NodeId to = ast.child(at, Role::left), from = ast.child(at, Role::right);
    if (ast[at].kind == K::assign && to != kNoNode && from != kNoNode && ast.slice(to) == name &&
        (ast.slice(from) == "true" || (counted && ast.slice(from) == "1")))
      return true;
  }
  return false;
}

/// C++: `if (model->loaded == -1) { copy the first part } ... model->loaded = part;` in a loop:
/// where nothing was loaded yet.
bool was_never_set(const Ast& ast, NodeId condition) {
  const NodeId kept = ast[condition].first_child;
  const NodeId function = ast.ancestor(condition, K::function);
  if (ast.grammar != Grammar::cuda || ast[condition].kind != K::compare ||
      ast[condition].text != "==" || ast[kept].kind != K::attribute || function == kNoNode ||
      ast.slice(ast[kept].next) != "-1")
    return false;
  NodeId loop = kNoNode;  // the outermost one
  for (NodeId at = condition; at != function; at = ast[at].parent) {
    if (ast[at].kind == K::for_ || ast[at].kind == K::while_) loop = at;
  }
  bool set = false;
  for (NodeId at = loop; loop != kNoNode && at < ast[loop].end; ++at) {
    const NodeId to = ast[at].kind == K::assign ? ast.child(at, Role::left) : kNoNode;
    if (to == kNoNode || ast.slice(to) != ast.slice(kept)) continue;
    if (ast.slice(ast.child(at, Role::right)) == "-1") return false;
    set = true;
  }
  return set;
}

/// C: `if (net->size != n) cudaMalloc(...)` in several places, and `net->size = n` behind them all.
bool is_brought_up_to_date_behind(const Ast& ast, NodeId condition, NodeId branch) {
  const NodeId function = ast.ancestor(condition, K::function);
  if (ast.grammar != Grammar::cuda || function == kNoNode ||
      ast.slice(condition).find("!=") == std::string_view::npos)
    return false;
  for (NodeId at = ast[branch].end; at < ast[function].end; ++at) {
    if (ast[at].kind == K::block && brings_up_to_date(ast, condition, at, false)) return true;
  }
  return false;
}

}  // namespace

bool runs_first_time(const Ast& ast, NodeId condition, NodeId branch, bool negated) {
  return !negated && (runs_once(ast, condition, branch) || fills_member(ast, condition, branch));
}

bool keeps_value(const Ast& ast, NodeId condition, NodeId branch, bool negated) {
  if (brings_up_to_date(ast, condition, body_of(ast, branch), negated)) return true;
  return !negated &&
         (keeps_what_was_missing(ast, condition, branch) || makes_anew(ast, condition, branch) ||
          runs_first_time(ast, condition, branch, negated) || was_never_set(ast, condition) ||
          is_brought_up_to_date_behind(ast, condition, branch));
}

}  // namespace stallscope
