#include "source/extract/benchmarks.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

void leave_out_timed_models(std::span<const uint32_t> timed, FileFacts& facts) {
  constexpr uint32_t kTrains = kForward | kHook | kStepEvidence | kModuleLevel;
  std::vector<uint8_t> steps(facts.functions.size(), 0);
  for (const LoopFacts& loop : facts.loops)
    steps[loop.function] |= loop.backward || loop.optimizer_step;
  for (const uint32_t at : timed) {
    const LoopFacts& loop = facts.loops[at];
    FunctionFacts& function = facts.functions[loop.function];
    // train() of a trainer that is timed calls what steps.
    if (loop.runs_model && steps[loop.function] == 0 && (function.flags & kTrains) == 0 &&
        function.class_name.empty() &&
        !has_word(function.name,
                  {"train", "training", "fit", "learn", "run", "main", "step", "epoch"}))
      function.flags |= kTestFunction;
  }
}

}  // namespace

void leave_out_benchmarks(const Ast& ast, std::span<const uint32_t> timed, FileFacts& facts) {
  if (ast.grammar == Grammar::python) return leave_out_timed_models(timed, facts);
  if (std::ranges::any_of(facts.loops, &LoopFacts::optimizer_step)) return;
  const bool program = std::ranges::any_of(facts.functions, [](const FunctionFacts& f) {
    return (f.flags & kMainFunction) != 0 && f.class_name.empty();
  });
  std::vector<uint8_t> times(facts.functions.size(), program ? 1 : 0);
  for (const uint32_t at : timed) times[facts.loops[at].function] = 1;
  for (LoopFacts& loop : facts.loops) {
    if (times[loop.function] == 0) continue;
    loop.backward = false;
    loop.seldom = true;
  }
}

void leave_out_tried_kernels(const Ast& ast, FileFacts& facts) {
  // The text says so where its branches of the preprocessor confuse the tree.
  if (ast.grammar != Grammar::cuda || !holds_text(ast.source, "benchmark_kernel(") ||
      !holds_text(ast.source, "int main("))
    return;
  const bool trains = std::ranges::any_of(facts.loops, [&](const LoopFacts& loop) {
    return loop.optimizer_step && (facts.functions[loop.function].flags & kMainFunction) != 0;
  });
  if (trains) return;
  for (FunctionFacts& function : facts.functions) function.flags |= kTestFunction;
}

}  // namespace stallscope
