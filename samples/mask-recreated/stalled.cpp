// Trains a GPT that builds its causal mask in every layer of every step.
#include <limits>
#include <string>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

namespace {

void causal_mask(trainer::GptRun& run, size_t size) {
  trainer::Stream& stream = run.device.stream();
  float* const mask = run.session.data("mask");
  const float infinity = std::numeric_limits<float>::infinity();
  trainer::triu(stream, mask, size, -infinity);  // expect: mask-recreated
}

}  // namespace

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    const trainer::GptConfig model{.layers = 2,
                                   .hidden = 32,
                                   .heads = 4,
                                   .vocabulary = 128,
                                   .sequence = 128,
                                   .batch = 1,
                                   .explicit_mask = true};
    trainer::GptRun run(rank,
                        {.model = model, .text = STALLSCOPE_SAMPLE_TEXT, .timing = trainer::slow_memory()});
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.run("embed");
      for (size_t layer = 0; layer < model.layers; ++layer) {
        causal_mask(run, model.sequence);
        run.session.run("layer." + std::to_string(layer));
      }
      run.session.run("head");
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
