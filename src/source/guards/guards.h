// Guards: what a condition around a place says about how often it runs.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/values/infer.h"

namespace stallscope {

/// network_gui.conn, self.viewer: there for somebody who watches.
bool is_about_viewer(const Ast& ast, std::string_view text);

class Guards {
 public:
  Guards(const Ast& ast, const Outline& outline, const Inference& inference);

  /// Guard bits of everything around `node` inside its function.
  uint32_t around(NodeId node) const;
  /// What it means that `condition` is true.
  uint32_t of_condition(NodeId condition, bool negated = false, unsigned depth = 0) const;

 private:
  bool is_body_of_test(NodeId block) const;
  uint32_t by_parent(NodeId at, NodeId below) const;
  uint32_t of_term(NodeId id, bool negated, unsigned depth) const;
  uint32_t of_ifs_around(NodeId statement, unsigned depth) const;
  uint32_t of_none(NodeId what, bool is_none) const;
  bool is_every_few(NodeId modulo) const;
  bool is_few_by_default(std::string_view parameter) const;
  bool divides_no_steps(NodeId modulo) const;
  uint32_t of_compare(NodeId id, bool negated, unsigned depth) const;
  bool counts_within_pass(NodeId counter) const;
  bool begins_its_loop(NodeId counter, std::string_view value) const;
  bool asks_for_interval(NodeId call) const;
  bool asks_whether_due(NodeId call) const;
  bool runs_backwards(NodeId name) const;
  bool is_asked_once(NodeId either) const;
  bool switches_itself_off(NodeId condition, NodeId branch) const;
  bool may_switch_on(NodeId switched) const;
  uint32_t of_words(std::string_view text, bool negated) const;
  uint32_t of_macro(NodeId at, bool alternative) const;
  uint32_t left_early(NodeId statement) const;
  bool accumulates(NodeId branch) const;
  bool repeats_as_often(NodeId condition, NodeId branch) const;
  bool takes_jax_step(NodeId callee) const;
  NodeId last_accumulating(NodeId block) const;
  bool asks_whether_made(NodeId callee) const;
  bool has_default(NodeId name) const;
  bool is_made_below(NodeId what) const;
  bool is_kept(NodeId what) const;
  bool is_of_lasting_class(NodeId function) const;
  bool is_set_for_good(NodeId what) const;
  bool is_made_behind(NodeId name) const;
  bool is_static(NodeId name) const;
  bool is_declared_global(NodeId name) const;
  bool is_set_by_function(std::string_view name) const;
  bool is_looked_up(NodeId name) const;
  bool is_first_step(NodeId name) const;
  NodeId parameter_of(NodeId name) const;
  bool is_parameter(NodeId name) const;
  uint32_t of_cond(NodeId call, NodeId branch) const;
  uint32_t of_with(NodeId with) const;
  bool gives_up(NodeId condition, NodeId block) const;
  bool asks_for_nan(NodeId condition) const;
  bool asks_for_device(NodeId condition) const;
  bool is_members_default(NodeId value) const;
  bool ends_in_error(NodeId block) const;
  bool leaves_loop(NodeId branch) const;
  bool returns(NodeId block) const;
  bool never_passed(NodeId statement) const;
  bool keeps_by_name(NodeId call) const;
  bool is_debugging_macro(NodeId call) const;
  bool is_message(NodeId call, NodeId argument) const;
  bool is_warning(NodeId call) const;
  bool only_leaves(NodeId block) const;

  const Ast& ast_;
  const Outline& outline_;
  /// Per parameter with a default, see is_few_by_default(); made when it is first asked for.
  mutable std::optional<std::unordered_map<std::string_view, bool>> few_by_default_;
  const Inference& inference_;
  std::vector<NodeId> globals_;  ///< `global NAME` statements
  std::vector<NodeId> emptied_;  ///< attributes that are set to None behind __init__
  static constexpr uint32_t kNotAsked = 0xffffffffu;
  mutable std::vector<uint32_t> early_;   ///< per statement: guards of those before it
  mutable std::vector<uint32_t> around_;  ///< per node
  /// by the last part of a name: what assigns to it, in Python
  mutable std::unordered_map<std::string_view, std::vector<NodeId>> assigned_;
};

}  // namespace stallscope
