// Gradient names: what jax.grad() and its kin gave a name to, so that calling it computes
// gradients.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "source/names/names.h"
#include "source/names/outline.h"

namespace stallscope {

class GradientNames {
 public:
  GradientNames(const Ast& ast, const Names& names, const Outline& outline, const FileFacts& facts);

  /// Whether calling `name` computes gradients: `name = jax.jit(jax.grad(f))`, @jax.grad.
  bool contains(std::string_view name) const { return names_given_.contains(name); }
  /// Whether `call`, whose callee is `path`, is called in turn: jax.grad(f)(params).
  bool is_called(NodeId call, const Dotted& path) const;
  /// Whether `call` stands in a lambda that is given a name, as it is or compiled:
  /// update = jax.jit(lambda grads, state: optimizer.update(grads, state)). It runs where the name
  /// is called.
  bool is_in_kept_lambda(NodeId call) const;
  /// A function that computes gradients, and the name it was given, if any.
  struct Made {
    NodeId call;
    std::string_view name;
    bool scanned = false;  ///< called by what scan() or the like is handed
  };
  /// Those made where no call of theirs is seen, by what does not hand them out: what they are
  /// handed to, in the same function, calls them.
  const std::vector<Made>& made() const { return made_; }

 private:
  std::string_view name_given(NodeId function) const;
  std::string_view called_name(NodeId call) const;
  void add_made(NodeId call);
  void rename_compiled(NodeId call);
  void add_decorated(NodeId function);
  void leave_out_called();
  bool is_handed_to_loop(const Made& made) const;
  bool hands_out_function(uint32_t function) const;
  NodeId outermost_wrapper(NodeId call) const;

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const FileFacts& facts_;
  std::unordered_set<std::string_view> names_given_;
  std::vector<Made> made_;
};

}  // namespace stallscope
