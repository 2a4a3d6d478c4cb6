// What branches do to values: what each binds, and what its condition tells.
#include <algorithm>
#include <utility>

#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool compares_with_number(const Ast& ast, NodeId condition) {
  if (ast[condition].kind != K::compare) return false;
  for (NodeId c : children(ast, condition)) {
    if (ast[c].kind == K::number) return true;
  }
  return false;
}

}  // namespace

/// What both branches bind holds either value afterwards.
void Inference::run_branches(NodeId id) {
  const size_t outer_begin = sibling_begin_, outer_end = sibling_end_, start = assigned_.size();
  const size_t replaced = replaced_.size();
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].role == Role::condition) continue;
    if (ast_[c].role == Role::alternative) {
      sibling_begin_ = start;
      sibling_end_ = assigned_.size();
    }
    const NodeId tensor = ast_[c].role == Role::alternative
                              ? tested_for_tensor(ast_, ast_.child(id, Role::condition))
                              : kNoNode;
    if (tensor != kNoNode) {
      // Elsewhere it is no tensor.
      Value& known = scopes_[function_].variables[ast_[tensor].text];
      const Value before = std::exchange(known, likely(Kind::other));
      statement(c);
      Value& after = scopes_[function_].variables[ast_[tensor].text];
      if (after.kind == Kind::other) after = before;
      sibling_begin_ = outer_begin;
      sibling_end_ = outer_end;
      continue;
    }
    statement(c);
    sibling_begin_ = outer_begin;
    sibling_end_ = outer_end;
  }
  if (ast_[id].kind == K::if_ && ast_.child(id, Role::alternative) == kNoNode)
    restore_replaced(id, replaced);
  replaced_.resize(replaced);
}

/// `if decode: x = x.cpu().numpy()`: behind it x may still be a tensor on the device, unless the
/// condition asked about x.
void Inference::restore_replaced(NodeId branch, size_t from) {
  const NodeId condition = ast_.child(branch, Role::condition);
  if (condition == kNoNode) return;
  for (size_t i = replaced_.size(); i-- > from;) {
    const auto& [name, value] = replaced_[i];
    // What it held before the branch counts, not what the branch made of it on the way.
    const auto first =
        std::find_if(replaced_.begin() + static_cast<std::ptrdiff_t>(from), replaced_.end(),
                     [&](const auto& r) { return r.first == name; });
    if (first->second.is_host()) continue;
    Value& now = scopes_[function_].variables[name];
    bool asked = false;
    for (NodeId at = condition; at < ast_[condition].end; ++at)
      asked |= ast_[at].kind == K::name && ast_[at].text == name;
    // `if n == 0: n = torch.tensor(1)` asks for the value, not for its kind.
    asked &= !compares_with_number(ast_, condition);
    if (value.is_device() && now.is_host() && !asked) now = value;
  }
}

/// isinstance(x, torch.Tensor) tells what x is.
void Inference::learn_from_test(NodeId condition) {
  NodeId call = condition;
  if (ast_[call].kind != K::call || callee_name(ast_, call) != "isinstance") return;
  NodeId what = ast_.child(call, Role::argument);
  if (what == kNoNode || ast_[what].kind != K::name || ast_[what].next == kNoNode) return;
  const std::string_view types = ast_.slice(ast_[what].next);
  if (contains_any(types, {"ndarray", "np."}) && contains_any(types, {"tensor", "array,"})) return;
  Value declared = value_of_type(types);
  if (declared.kind == Kind::unknown) return;
  Value& known = scopes_[function_].variables[ast_[what].text];
  // A tensor of a batch is still on the host.
  if (known.kind != Kind::batch && known.kind != Kind::host_tensor) known = declared;
}

}  // namespace stallscope
