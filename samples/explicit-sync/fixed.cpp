// Trains a GPT and times the whole run: the host never waits inside the loop.
#include <chrono>
#include <cstdio>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    run.device.synchronize();
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
    std::printf("60 steps in %.3f s\n", all.count());
    return run.finish();
  });
}
