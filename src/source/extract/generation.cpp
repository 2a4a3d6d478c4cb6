#include "source/extract/generation.h"

#include <algorithm>

#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr NodeId kLongestLoop = 20000;  ///< nodes behind a call that are searched

}  // namespace

bool is_generation(const Ast& ast, NodeId callee) {
  const std::string_view name = ast[callee].text;
  if (is_one_of(name, {"generate", "beam_search", "sampler"})) return true;
  const NodeId object = ast.child(callee, Role::object);
  return object != kNoNode && (name == "sample" || name.ends_with("_sample")) &&
         (ast.slice(object) == "self" || is_model_name(last_component(ast.slice(object))));
}

bool feeds_back(const Ast& ast, NodeId call, NodeId loop) {
  const NodeId over = ast.child(loop, Role::right);
  if (over == kNoNode || ast.grammar != Grammar::python) return false;
  if (contains_any(ast.slice(over), {"reversed(", "timesteps", "sigmas"})) return true;
  // What is handed in beside it may be a state: output, hidden = model(x, hidden)
  const NodeId input = ast.child(call, Role::argument);
  if (input == kNoNode || ast[input].kind != NodeKind::name) return false;
  const NodeId end = std::min(ast[loop].end, ast[call].end + kLongestLoop);
  for (NodeId at = ast[call].end; at < end; ++at) {
    const NodeId left = ast[at].kind == NodeKind::assign ? ast.child(at, Role::left) : kNoNode;
    if (left != kNoNode && ast[left].kind == NodeKind::name && ast[left].text == ast[input].text)
      return true;
  }
  return false;
}

std::vector<uint32_t> forwards_without_grad(const FileFacts& facts) {
  constexpr uint32_t kBoth = kForward | kWithoutGrad;
  std::vector<uint32_t> out;
  for (uint32_t f = 0; f < facts.functions.size(); ++f) {
    if ((facts.functions[f].flags & kBoth) == kBoth) out.push_back(f);
  }
  return out;
}

void leave_out_generators(const std::vector<uint32_t>& forwards, FileFacts& facts) {
  for (const LoopFacts& loop : facts.loops) {
    if (!loop.generates || std::ranges::find(forwards, loop.function) == forwards.end()) continue;
    uint32_t& flags = facts.functions[loop.function].flags;
    flags = (flags & ~static_cast<uint32_t>(kForward)) | kEvalFunction | kInferenceFunction;
  }
}

}  // namespace stallscope
