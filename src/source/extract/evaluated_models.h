// EvaluatedModels: which models were put into evaluation before they are run.
#pragma once

#include <vector>

#include "source/names/outline.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// model.eval() before `for batch in loader: model(batch)`: a pass of validation, with or without
/// gradients.
class EvaluatedModels {
 public:
  EvaluatedModels(const Ast& ast, const Outline& outline) : ast_(ast), outline_(outline) {}

  /// Keeps model.eval() and model.train(). Calls come in the order of the file.
  void note(NodeId call, NodeId callee);

  /// Whether the model that `call` runs, by itself or by its forward(), was put into evaluation
  /// last, in a block around the call. A branch says nothing for what stands behind it.
  bool is_evaluated(NodeId call, NodeId callee) const;

 private:
  struct Mode {
    NodeId call;
    std::string_view model;
    bool evaluates;
  };
  const Ast& ast_;
  const Outline& outline_;
  std::vector<Mode> modes_;
};

}  // namespace stallscope
