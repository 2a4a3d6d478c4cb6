// Trains a GPT and waits for the device after every step, to time it.
#include <chrono>
#include <cstdio>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    const auto start = std::chrono::steady_clock::now();
    std::chrono::duration<double> busy{};
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      const auto before = std::chrono::steady_clock::now();
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
      run.device.synchronize();  // expect: explicit-sync
      busy += std::chrono::steady_clock::now() - before;
    }
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
    std::printf("%.3f s of %.3f s in the model\n", busy.count(), all.count());
    return run.finish();
  });
}
