// Trains a GPT and rewrites a tree of settings leaf by leaf in every step.
#include <string>

#include "trainer/loop/gpt_run.h"
#include "trainer/plan/tree.h"

using namespace stallscope;

namespace {

trainer::Tree<float> schedule() {
  trainer::Tree<float>::Leaves leaves;
  for (int i = 0; i < 1000; ++i) leaves["layer." + std::to_string(i) + ".rate"] = 1e-3F;
  return trainer::Tree<float>(leaves);
}

}  // namespace

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT});
    trainer::Tree<float> rates = schedule();
    for (int step = 0; step < 30; ++step) {
      const annotate::Scope range("step");
      const auto leaves = rates.leaves();
      for (const auto& [path, rate] : leaves)
        rates = trainer::tree_at(rates, path, rate * 0.999F);  // expect: tree-rewrite-in-loop
      run.adam.rate = static_cast<double>(rates.at("layer.0.rate"));
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
