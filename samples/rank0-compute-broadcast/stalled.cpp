// Trains a transcoder on two ranks; rank 0 computes the mask and broadcasts it.
#include "trainer/loop/clt_run.h"
#include "trainer/ops/selection.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(2, [](trainer::Rank& rank) {
    const trainer::CltConfig model{.layers = 2, .width = 16, .features = 512, .batch = 128, .k = 8};
    trainer::CltRun run(rank, {.model = model,
                               .text = STALLSCOPE_SAMPLE_TEXT,
                               .timing = {.bytes_per_second = 5e8, .collective_bytes_per_second = 1e9}});
    trainer::Stream& stream = run.device.stream();
    const size_t rows = model.layers * model.batch, size = rows * model.features;
    trainer::Selection selection(run.device, model.layers, model.batch, model.features);
    trainer::Buffer<float> shards(run.device, size), whole(run.device, size), mask(run.device, size);
    for (int step = 0; step < 40; ++step) {
      const annotate::Scope range("step");
      run.upload(step);
      run.session.run("encode");
      run.group.all_gather(stream, run.session.data("pre"), shards.data(), size / 2);
      if (rank.rank == 0) {
        trainer::join_features(stream, whole.data(), shards.data(), rows, model.features, 2);
        selection.select(stream, selection.of(whole.data(), mask.data()), model.k * model.batch);
      }
      run.group.broadcast(stream, mask.data(), size, 0);  // expect: rank0-compute-broadcast
      trainer::take_features(stream, run.session.data("mask"), mask.data(), rows, model.features,
                             static_cast<size_t>(rank.rank), 2);
      run.session.run("decode");
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
