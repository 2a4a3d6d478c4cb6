// Trains a GPT and copies each batch to the device with the blocking call.
#include <utility>

#include "trainer/loop/gpt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    const trainer::GptConfig model{
        .layers = 2, .hidden = 8, .heads = 2, .vocabulary = 128, .sequence = 32, .batch = 32};
    trainer::GptRun run(rank, {.model = model, .text = STALLSCOPE_SAMPLE_TEXT, .prefetch = 0});
    trainer::Stream& stream = run.device.stream();
    int32_t* const tokens = run.session.index_data("tokens");
    int32_t* const labels = run.session.index_data("labels");
    trainer::Batch batch = run.loader.next();
    for (int step = 0; step < 60; ++step) {
      const annotate::Scope range("step");
      const size_t bytes = batch.tokens.size() * sizeof(int32_t);
      for (const auto& [to, from] : {std::pair(tokens, &batch.tokens), std::pair(labels, &batch.labels)})
        stream.copy_to_device(to, from->data(), bytes);  // expect: blocking-host-to-device
      batch = run.loader.next();
      run.session.forward();
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
