// Trains a GPT, adds the losses up on the device and reads the sum once.
#include <cstdio>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    trainer::Buffer<float> total(run.device, 1);
    run.device.stream().memset_async(total.data(), 0, sizeof(float));
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
      trainer::accumulate(run.device.stream(), total.data(), run.session.data("loss"), 1);
    }
    std::printf("mean loss %.4f\n",
                static_cast<double>(trainer::item(run.device.stream(), total.data()) / 60));
    return run.finish();
  });
}
