// References: functions that are handed on as values, so that whoever gets them may call them.
#pragma once

#include <string_view>
#include <unordered_set>

#include "source/guards/guards.h"
#include "source/names/consumers.h"

namespace stallscope {

class References {
 public:
  /// `known` are the names of the file's functions; what `step = jit(f)` names f is added. All
  /// must outlive this.
  References(const Ast& ast, const Names& names, const Outline& outline, const Inference& inference,
             const Guards& guards, const Consumers& consumers,
             std::unordered_set<std::string_view>& known, FileFacts& facts);

  /// Adds a call of the form `reference` where a name or an attribute stands for a function.
  void visit(NodeId id);

 private:
  bool may_be_imported_function(NodeId id) const;
  bool is_parameter(NodeId name) const;
  bool is_recompiled(NodeId id, NodeId assign) const;
  void handed_to(NodeId id, CallFacts& out);

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const Inference& inference_;
  const Guards& guards_;
  const Consumers& consumers_;
  std::unordered_set<std::string_view>& known_;
  FileFacts& facts_;
  /// Names of this file's methods, and of its other functions; second names are among both.
  std::unordered_set<std::string_view> methods_, functions_;
};

}  // namespace stallscope
