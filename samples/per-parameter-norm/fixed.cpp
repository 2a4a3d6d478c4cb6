// Trains a GPT and clips its gradients on the device.
#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    trainer::GptRun run(rank, {.text = STALLSCOPE_SAMPLE_TEXT});
    trainer::Stream& stream = run.device.stream();
    trainer::Buffer<double> squares(run.device, 1);
    for (int step = 0; step < 50; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.backward();
      trainer::sum_of_squares(stream, squares.data(), run.session.gradient_list());
      trainer::clip(stream, run.session.gradients(), squares.data(), 1.0, run.session.gradient_elements());
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
