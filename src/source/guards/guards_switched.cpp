// Branches that switch off what lets them run: `if warming_up: torch.cuda.synchronize();
// warming_up = False` runs once.
#include "source/guards/guards.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// What nobody writes by hand is not looked through.
constexpr unsigned kMostTerms = 32;
constexpr size_t kMostAssignments = 1000;

/// Whether `condition` can only hold while `flag` is true (`holds`), or false.
bool needs(const Ast& ast, NodeId condition, std::string_view flag, bool holds) {
  for (unsigned terms = 0; terms < kMostTerms; ++terms) {
    const Node& node = ast[condition];
    if (node.kind == K::boolean && node.text == "and") {
      const NodeId left = ast.child(condition, Role::left);
      const NodeId right = ast.child(condition, Role::right);
      if (left == kNoNode || right == kNoNode) return false;
      // of `a and b and c` the left side is the long one
      if (ast[right].kind != K::boolean && needs(ast, right, flag, holds)) return true;
      condition = left;
      continue;
    }
    if (node.kind == K::unary && node.text == "not")
      return !holds && node.first_child != kNoNode && ast.slice(node.first_child) == flag;
    return holds && (node.kind == K::name || node.kind == K::attribute) &&
           ast.slice(condition) == flag;
  }
  return false;
}

}  // namespace

/// What Python's assignments give `flag` elsewhere: whether one of them may switch it on again
/// while the program that runs `switched` goes on.
bool Guards::may_switch_on(NodeId switched) const {
  if (assigned_.empty()) {
    for (NodeId at = 1; at < ast_.size(); ++at) {
      const NodeId left = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
      if (left != kNoNode && (ast_[left].kind == K::name || ast_[left].kind == K::attribute))
        assigned_[ast_[left].text].push_back(at);
    }
  }
  const NodeId flag = ast_.child(switched, Role::left);
  const bool local = ast_[flag].kind == K::name;
  const uint32_t around = outline_.loop_of[switched];
  const NodeId loop = around == kNone ? kNoNode : outline_.loops[around];
  const NodeId function = ast_.ancestor(flag, K::function);
  const std::string_view off = ast_.slice(ast_.child(switched, Role::right));
  const std::vector<NodeId>& assigned = assigned_.at(ast_[flag].text);
  if (local && loop == kNoNode) return true;  // begins anew with each call
  if (assigned.size() > kMostAssignments) return true;
  for (const NodeId at : assigned) {
    const NodeId value = ast_.child(at, Role::right), where = ast_.ancestor(at, K::function);
    if (value == kNoNode || ast_.slice(value) == off) continue;
    const bool within = loop != kNoNode && at > loop && at < ast_[loop].end;
    if (within) return true;
    if (!local && where != kNoNode && where != function && ast_[where].text != "__init__")
      return true;
  }
  return false;
}

bool Guards::switches_itself_off(NodeId condition, NodeId branch) const {
  if (ast_.grammar != Grammar::python) return false;
  for (const NodeId at : children(ast_, branch)) {
    if (ast_[at].kind != K::assign) continue;
    const NodeId flag = ast_.child(at, Role::left), value = ast_.child(at, Role::right);
    if (flag == kNoNode || value == kNoNode ||
        (ast_[flag].kind != K::name && ast_[flag].kind != K::attribute))
      continue;
    const std::string_view given = ast_.slice(value);
    if ((given == "True" || given == "False") &&
        needs(ast_, condition, ast_.slice(flag), given == "False") && !may_switch_on(at))
      return true;
  }
  return false;
}

}  // namespace stallscope
