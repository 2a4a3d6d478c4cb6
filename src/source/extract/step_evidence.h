// What one call says about training: it computes gradients, or updates parameters by them.
#pragma once

#include <cstdint>

#include "source/extract/gradient_names.h"
#include "source/values/infer.h"

namespace stallscope {

enum class Evidence : uint8_t { none, backward, step };

class StepEvidence {
 public:
  /// All must outlive it.
  StepEvidence(const Ast& ast, const Names& names, const Outline& outline,
               const Inference& inference, const GradientNames& gradients, const FileFacts& facts)
      : ast_(ast),
        names_(names),
        outline_(outline),
        inference_(inference),
        gradients_(gradients),
        facts_(facts) {}

  /// loss.backward(), optimizer.step(), gpt2_backward(model); `callee` is the call's. What stands
  /// in a lambda that is given a name runs where that is called.
  Evidence of(NodeId call, NodeId callee) const;
  /// `q.requires_grad_(); out = kernel(q); out.sum().backward(); save(q.grad)`, in a file without
  /// an optimiser: whether a function takes gradients of inputs to look at them. Reads its text.
  bool only_looks_at_gradients(uint32_t function) const;
  /// scipy.optimize.minimize(loss, x, jac=gradient): SciPy takes the steps, by what it is handed.
  bool hands_to_solver(uint32_t function) const;

 private:
  Evidence judged(NodeId call, NodeId callee) const;
  Evidence of_method(NodeId callee) const;

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const Inference& inference_;
  const GradientNames& gradients_;
  const FileFacts& facts_;
};

}  // namespace stallscope
