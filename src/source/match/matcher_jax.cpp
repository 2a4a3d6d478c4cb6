// The matcher for compiled training steps of JAX that are decorated: no call of jit names them.
#include <string>

#include "source/match/matcher.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// A function that takes a state and gives the next one, by its name.
bool replaces_state(std::string_view name) {
  return contains_any(name, {"train_step", "training_step", "update_step", "step_fn", "train_epoch",
                             "training_epoch", "update_epoch"}) &&
         !contains_any(name, {"valid_step", "val_step", "eval_step", "test_step"});
}

bool compiles(const FileView& file, NodeId expression) {
  const Dotted& path = file.names.resolve(expression);
  return path.imported &&
         (path.path == "jax.jit" || path.path == "jax.pmap" || path.path == "flax.nnx.jit" ||
          path.path == "jax.experimental.pjit.pjit");
}

/// Whether `call` donates, or takes options from a dictionary that may.
bool may_donate(const Ast& ast, NodeId call) {
  for (NodeId c : children(ast, call)) {
    if (ast[c].kind == K::star) return true;
    if (ast[c].kind == K::keyword && ast[c].text.starts_with("donate")) return true;
  }
  return false;
}

/// The expression of @jax.jit, @jax.jit(...) or @partial(jax.jit, ...) that donates nothing.
NodeId undonated(const FileView& file, NodeId decorator) {
  const NodeId made = file.ast[decorator].first_child, by = compiled_by(file.ast, decorator);
  if (by == kNoNode || (file.ast[made].kind == K::call && may_donate(file.ast, made)))
    return kNoNode;
  return compiles(file, by) ? made : kNoNode;
}

}  // namespace

void find_undonated_steps(const FileView& file, std::vector<Match>& out) {
  if (!file.names.uses("jax")) return;
  for (uint32_t f = 1; f < file.outline.functions.size(); ++f) {
    const NodeId function = file.outline.functions[f], whole = file.ast[function].parent;
    if (!replaces_state(file.facts.functions[f].name) || whole == kNoNode) continue;
    for (NodeId d : children(file.ast, whole)) {
      if (file.ast[d].kind != K::decorator) continue;
      const NodeId made = undonated(file, d);
      if (made != kNoNode) out.push_back({made, {}, {}});
    }
  }
}

}  // namespace stallscope
