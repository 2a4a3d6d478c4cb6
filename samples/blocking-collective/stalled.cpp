// Trains a GPT on two data-parallel ranks and reduces gradients between layers.
#include <string>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(2, [](trainer::Rank& rank) {
    const trainer::GptConfig model{
        .layers = 3, .hidden = 32, .heads = 4, .vocabulary = 128, .sequence = 32, .batch = 4};
    trainer::GptRun run(rank, {.model = model,
                               .parallel = trainer::Parallel::data,
                               .text = STALLSCOPE_SAMPLE_TEXT,
                               .timing = trainer::slow_links()});
    trainer::Stream& stream = run.device.stream();
    for (int step = 0; step < 50; ++step) {
      const annotate::Scope range("step");
      run.upload(run.loader.next());
      run.session.forward();
      run.session.run("head.backward");
      for (size_t layer = model.layers; layer-- > 0;) {
        const std::string name = "layer." + std::to_string(layer);
        run.session.run(name + ".backward");
        const std::span<float> bucket = run.session.gradients_of(name);
        run.group.all_reduce(stream, bucket.data(), bucket.size());  // expect: blocking-collective
      }
      run.session.run("embed.backward");
      for (const char* rest : {"embedding", "final"}) {
        const std::span<float> bucket = run.session.gradients_of(rest);
        run.group.all_reduce(stream, bucket.data(), bucket.size());
      }
      trainer::scale(stream, run.session.gradients(), 0.5F, run.session.gradient_elements());
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
