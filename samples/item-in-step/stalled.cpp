// Trains a GPT and reads the loss back in every step.
#include <cstdio>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    float total = 0;
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
      total += run.session.item("loss");  // expect: item-in-step
    }
    std::printf("mean loss %.4f\n", static_cast<double>(total / 60));
    return run.finish();
  });
}
