// Trains a GPT and copies each batch through pinned memory, without waiting.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    const trainer::GptConfig model{
        .layers = 2, .hidden = 8, .heads = 2, .vocabulary = 128, .sequence = 32, .batch = 32};
    trainer::GptRun run(rank, {.model = model, .text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    trainer::Batch batch = run.loader.next();
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(batch);
      batch = run.loader.next();
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
