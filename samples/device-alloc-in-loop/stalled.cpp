// Trains a GPT and allocates a copy of its gradients in every step.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    trainer::Stream& stream = run.device.stream();
    const size_t count = run.session.gradient_elements();
    trainer::Buffer<float> previous(run.device, count);
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      const size_t bytes = count * sizeof(float);
      stream.copy_on_device_async(previous.data(), run.session.gradients(), bytes);
      run.session.optimizer_step(run.adam);
      previous = trainer::Buffer<float>(run.device, count);  // expect: device-alloc-in-loop
    }
    return run.finish();
  });
}
