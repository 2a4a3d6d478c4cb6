// Trains a transcoder that selects the largest activations.
#include "trainer/loop/clt_run.h"
#include "trainer/ops/selection.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(1, [](trainer::Rank& rank) {
    const trainer::CltConfig model{.layers = 2, .width = 16, .features = 512, .batch = 128, .k = 8};
    trainer::CltRun run(
        rank, {.model = model, .text = STALLSCOPE_SAMPLE_TEXT, .timing = {.bytes_per_second = 2e9}});
    trainer::Stream& stream = run.device.stream();
    trainer::Selection selection(run.device, model.layers, model.batch, model.features);
    const auto scores = selection.of(run.session.data("pre"), run.session.data("mask"));
    for (int step = 0; step < 50; ++step) {
      const annotate::Scope range("step");
      run.upload(step);
      run.session.run("encode");
      selection.select(stream, scores, model.k * model.batch);
      run.session.run("decode");
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
