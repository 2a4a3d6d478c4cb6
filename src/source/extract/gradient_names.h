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
  /// Where such functions are made by what does not hand them out: it, or a function inside it
  /// that is handed to scan(), calls them.
  const std::vector<NodeId>& made() const { return made_; }

 private:
  void add_made(NodeId call);
  void add_decorated(NodeId function);
  bool hands_out_function(uint32_t function) const;
  NodeId outermost_wrapper(NodeId call) const;

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const FileFacts& facts_;
  std::unordered_set<std::string_view> names_given_;
  std::vector<NodeId> made_;
};

}  // namespace stallscope
