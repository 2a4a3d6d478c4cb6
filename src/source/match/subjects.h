// Subjects: what a call is about, and whether that is a batch which lies on the host.
#pragma once

#include "source/match/matcher.h"

namespace stallscope {

class Subjects {
 public:
  Subjects(const FileView& file, const FileFacts& facts)
      : file_(file), ast_(file.ast), facts_(facts) {}

  /// What the call is about: a method's receiver, else a function's first argument.
  Value of(NodeId id) const;
  /// What a method is called on, whatever names say of it: of a parameter, what callers hand in.
  Value receiver(NodeId id) const;

 private:
  uint32_t handed_in(NodeId id, std::string_view name) const;
  bool is_field_of_batch(NodeId object) const;
  bool names_device(NodeId call) const;
  bool follows_tensor(NodeId call) const;
  bool hands_on(NodeId id) const;
  bool moves_itself(NodeId id) const;
  NodeId assigned_before(NodeId name) const;
  bool is_of_method(const Value& value) const;
  bool was_moved(NodeId object) const;
  bool is_batch_class(std::string_view name) const;
  NodeId whole_of(NodeId object) const;
  static constexpr unsigned kHops = 4;
  NodeId root_of(NodeId object, unsigned hops = kHops) const;
  NodeId taken_from(NodeId made) const;
  NodeId given_before(NodeId name) const;
  bool is_unknown_argument(NodeId name) const;
  Value made_on_one_path(NodeId call, NodeId object) const;
  NodeId mapped_over(NodeId lambda, std::string_view taken) const;
  bool is_of_replay(NodeId object) const;
  bool is_of_batch_getter(NodeId id, NodeId object) const;
  bool is_stepped_with(NodeId id, NodeId object) const;
  bool is_of_step_loop(NodeId id, std::string_view name) const;
  bool has_keyword(NodeId call, std::string_view name) const;

  const FileView& file_;
  const Ast& ast_;
  const FileFacts& facts_;
};

}  // namespace stallscope
