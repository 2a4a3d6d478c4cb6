// Trains a GPT that computes its table of positions once.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    const trainer::GptConfig model{.layers = 2,
                                   .hidden = 32,
                                   .heads = 4,
                                   .vocabulary = 128,
                                   .sequence = 128,
                                   .batch = 1,
                                   .explicit_positions = true};
    trainer::GptRun run(rank, {.model = model, .text = STALLSCOPE_SAMPLE_TEXT});
    trainer::Stream& stream = run.device.stream();
    float* const table = run.session.data("positions");
    trainer::sinusoid_table(stream, table, model.sequence, model.hidden);
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
