#include "source/extract/evaluated_models.h"

#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr size_t kMostLookedAt = 64;  ///< of the modes before a call

}  // namespace

void EvaluatedModels::note(NodeId call, NodeId callee) {
  if (ast_[callee].kind != K::attribute || !is_one_of(ast_[callee].text, {"eval", "train"})) return;
  const NodeId object = ast_.child(callee, Role::object), mode = ast_.child(call, Role::argument);
  if (object == kNoNode) return;
  const bool off = mode != kNoNode && is_one_of(ast_.slice(mode), {"false", "False"});
  modes_.push_back({call, ast_.slice(object), ast_[callee].text == "eval" || off});
}

bool EvaluatedModels::is_evaluated(NodeId call, NodeId callee) const {
  const bool by_forward = ast_[callee].kind == K::attribute && ast_[callee].text == "forward";
  const std::string_view model = ast_.slice(by_forward ? ast_.child(callee, Role::object) : callee);
  size_t looked_at = 0;
  for (size_t i = modes_.size(); i-- > 0 && looked_at < kMostLookedAt; ++looked_at) {
    const Mode& mode = modes_[i];
    if (outline_.function_of[mode.call] != outline_.function_of[call]) return false;
    if (mode.model == model && ast_.stands_before(mode.call, call)) return mode.evaluates;
  }
  return false;
}

}  // namespace stallscope
