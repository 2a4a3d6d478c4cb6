#include "trainer/loop/clt_run.h"

#include <algorithm>

#include "trainer/loop/finish.h"

namespace stallscope::trainer {
namespace {

constexpr uint64_t kTranscoderSeed = 21;
constexpr size_t kSamples = 1024;

Program program_of(const Rank& rank, const CltConfig& model) {
  auto program = build_clt(model, {rank.rank, rank.size});
  if (!program.ok()) stop(program.error());
  return std::move(*program);
}

Activations activations_of(const Rank& rank, const CltRunOptions& options) {
  auto activations = take_activations({.text = options.text,
                                       .layers = options.model.layers,
                                       .width = options.model.width,
                                       .samples = std::max(kSamples, options.model.batch),
                                       .device = rank.rank});
  if (!activations.ok()) stop(activations.error());
  return std::move(*activations);
}

}  // namespace

CltRun::CltRun(Rank& own_rank, const CltRunOptions& options)
    : rank(own_rank),
      device({.number = own_rank.rank, .timing = options.timing}),
      group(own_rank.communicator, device),
      session(program_of(own_rank, options.model), device, own_rank.size > 1 ? &group : nullptr,
              kTranscoderSeed),
      model_(options.model),
      activations_(activations_of(own_rank, options)),
      inputs_(device, session.size("inputs")),
      targets_(device, session.size("targets")),
      staged_(session.size("inputs")) {}

void CltRun::upload(int step) {
  const size_t count = model_.batch * model_.width;
  const size_t batches = activations_.samples / model_.batch;
  const size_t first = static_cast<size_t>(step) % batches * count;
  const size_t each = activations_.samples * model_.width;
  auto stage = [&](const std::vector<float>& from) {
    for (size_t layer = 0; layer < model_.layers; ++layer)
      std::copy_n(&from[layer * each + first], count, &staged_[layer * count]);
    return staged_.data();
  };
  inputs_.upload(device.stream(), session.data("inputs"), stage(activations_.inputs));
  targets_.upload(device.stream(), session.data("targets"), stage(activations_.targets));
}

int CltRun::finish() {
  return finish_run(device, rank.rank, session.data("loss"));
}

}  // namespace stallscope::trainer
