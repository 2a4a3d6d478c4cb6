// A transcoder's step on two ranks with what a first version does too much, each behind a switch.
// Prints the median step in milliseconds and the last loss, which no switch changes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "trainer/loop/clt_run.h"
#include "trainer/loop/finish.h"
#include "trainer/loop/limits.h"
#include "trainer/ops/selection.h"
#include "trainer/products/library.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"

using namespace stallscope;

namespace {

struct Switches {
  bool rank0_mask = false;     // rank 0 selects for all and broadcasts the mask
  bool gathers = false;        // every rank gathers all pre-activations
  bool encoder_again = false;  // pre-activations are computed a second time for the loss
  bool reduce_each = false;    // one all-reduce per decoder
  bool dense = false;          // the decoder is multiplied whole
};

constexpr const char* kNames[] = {"--rank0-mask", "--gathers", "--encoder-again", "--reduce-each", "--dense"};

Switches parse(int argc, char** argv) {
  Switches it;
  bool* const fields[] = {&it.rank0_mask, &it.gathers, &it.encoder_again, &it.reduce_each, &it.dense};
  for (int i = 1; i < argc; ++i) {
    const auto known = std::find_if(std::begin(kNames), std::end(kNames),
                                    [&](const char* name) { return std::strcmp(name, argv[i]) == 0; });
    if (known == std::end(kNames)) trainer::stop(Error{.message = std::string("no switch ") + argv[i]});
    *fields[known - kNames] = true;
  }
  if ((it.rank0_mask || it.reduce_each) && !it.dense)
    trainer::stop(Error{.message = "a mask and a reduction per decoder go with --dense"});
  return it;
}

int run(trainer::Rank& rank, const Switches& on) {
  constexpr int kSteps = 8;
  const trainer::CltConfig model{.layers = 4,
                                 .width = 256,
                                 .features = 4096,
                                 .batch = 256,
                                 .k = 32,
                                 .sparse = !on.dense,
                                 .reduce_each_decoder = on.reduce_each,
                                 .preactivation = 0,
                                 .auxiliary_k = 0};
  const trainer::ProductLibrary* library = trainer::product_library();
  auto program = trainer::build_clt(model, {rank.rank, rank.size});
  if (!program.ok()) trainer::stop(program.error());
  if (auto live = trainer::lower(*program, trainer::Precision::fp32, library); !live.ok())
    trainer::stop(live.error());
  trainer::Device device({.number = rank.rank, .team = std::max(trainer::cpu_limit() / rank.size, 1)});
  trainer::Group group(rank.communicator, device);
  trainer::Session<float> session(std::move(*program), device, rank.size > 1 ? &group : nullptr, 1, library);
  for (const char* name : {"inputs", "targets"})
    for (size_t i = 0; i < session.size(name); ++i)
      session.data(name)[i] = static_cast<float>(2 * trainer::random_uniform(2, i) - 1);
  const auto ranks = static_cast<size_t>(rank.size);
  const size_t rows = model.layers * model.batch, size = rows * model.features;
  trainer::Stream& stream = device.stream();
  trainer::Selection selection(device, model.layers, model.batch, model.features);
  trainer::Buffer<float> shards(device, size), whole(device, size), mask(device, size);

  std::vector<Ns> steps;
  for (int step = 0; step < kSteps; ++step) {
    const Ns start = trainer::now_ns();
    const annotate::Scope range("step");
    session.run("encode");
    if (on.encoder_again) session.run("encode");
    if (on.gathers || on.rank0_mask) {
      group.all_gather(stream, session.data("pre"), shards.data(), size / ranks);
      trainer::join_features(stream, whole.data(), shards.data(), rows, model.features, ranks);
    }
    if (on.rank0_mask) {
      if (rank.rank == 0)
        selection.select(stream, selection.of(whole.data(), mask.data()), model.k * model.batch);
      group.broadcast(stream, mask.data(), size, 0);
      trainer::take_features(stream, session.data("mask"), mask.data(), rows, model.features,
                             static_cast<size_t>(rank.rank), ranks);
    } else {
      session.run("select");
    }
    session.run("decode");
    session.backward();
    session.optimizer_step({.rate = 1e-3, .decay = 0});
    device.synchronize();
    steps.push_back(trainer::now_ns() - start);
  }
  std::sort(steps.begin() + 1, steps.end());
  if (rank.rank == 0) std::printf("step %.3f\n", static_cast<double>(steps[1 + (kSteps - 1) / 2]) / 1e6);
  return trainer::finish_run(device, rank.rank, session.data("loss"));
}

}  // namespace

int main(int argc, char** argv) {
  const Switches on = parse(argc, argv);
  return trainer::run_ranks(2, [&](trainer::Rank& rank) { return run(rank, on); });
}
