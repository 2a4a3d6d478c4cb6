// Trains a GPT on two ranks and allocates the gathered buffer in every step.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(2, [](trainer::Rank& rank) {
    trainer::GptRun run(rank,
                        {.parallel = trainer::Parallel::data, .text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    trainer::Stream& stream = run.device.stream();
    const size_t rows = run.session.size("loss.rows");
    trainer::Buffer<float> losses(run.device, 2 * rows);
    for (int step = 0; step < 50; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      run.group.all_reduce(stream, run.session.gradients(), run.session.gradient_elements());
      trainer::scale(stream, run.session.gradients(), 0.5F, run.session.gradient_elements());
      losses = trainer::Buffer<float>(run.device, 2 * rows);  // expect: collective-buffer-alloc
      run.group.all_gather(stream, run.session.data("loss.rows"), losses.data(), rows);
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
