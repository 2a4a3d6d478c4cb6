// Trains a GPT and reads every parameter's gradient norm back to clip.
#include <cmath>

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
      double total = 0;
      for (const std::span<float> gradient : run.session.gradient_list()) {
        trainer::sum_of_squares(stream, squares.data(), gradient);
        total += trainer::item(stream, squares.data());  // expect: per-parameter-norm
      }
      const double norm = std::sqrt(total);
      if (norm > 1)
        trainer::scale(stream, run.session.gradients(), static_cast<float>(1 / norm),
                       run.session.gradient_elements());
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
