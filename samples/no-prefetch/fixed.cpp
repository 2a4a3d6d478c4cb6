// Trains a GPT while two threads prepare the next batches.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(
        rank, {.text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 6, .workers = 3, .preparation = 28'000'000});
    for (int step = 0; step < 50; ++step) {
      const annotate::Scope range("step");
      const trainer::Batch batch = run.loader.next();
      run.upload(batch);
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
