// Trains a GPT on two data-parallel ranks, one all-reduce per parameter.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(2, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.parallel = trainer::Parallel::data, .text = STALLSCOPE_SAMPLE_TEXT});
    trainer::Stream& stream = run.device.stream();
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      for (const std::span<float> gradient : run.session.gradient_list())
        run.group.all_reduce(stream, gradient.data(), gradient.size());  // expect: many-small-collectives
      trainer::scale(stream, run.session.gradients(), 0.5F, run.session.gradient_elements());
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
