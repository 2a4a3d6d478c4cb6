// Trains a transcoder on two ranks that select together.
#include "trainer/loop/clt_run.h"

using namespace stallscope;

int main() {
  return trainer::run_ranks(2, [](trainer::Rank& rank) {
    const trainer::CltConfig model{.layers = 2, .width = 16, .features = 512, .batch = 128, .k = 8};
    trainer::CltRun run(rank, {.model = model,
                               .text = STALLSCOPE_SAMPLE_TEXT,
                               .timing = {.bytes_per_second = 5e8, .collective_bytes_per_second = 1e9}});
    for (int step = 0; step < 40; ++step) {
      const annotate::Scope range("step");
      run.upload(step);
      run.session.run("encode");
      run.session.run("select");
      run.session.run("decode");
      run.session.backward();
      run.session.optimizer_step(run.adam);
    }
    return run.finish();
  });
}
