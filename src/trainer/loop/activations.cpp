#include "trainer/loop/activations.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "trainer/data/text.h"
#include "trainer/device/device.h"
#include "trainer/models/gpt.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

void normalise(std::span<float> values) {
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * static_cast<double>(v);
  const double factor = 1 / std::sqrt(squares / static_cast<double>(values.size()) + 1e-20);
  for (float& v : values) v = static_cast<float>(v * factor);
}

}  // namespace

Result<Activations> take_activations(const ActivationOptions& options) {
  auto text = read_text(options.text);
  if (!text.ok()) return text.error();
  const GptConfig model{.layers = options.layers,
                        .hidden = options.width,
                        .heads = 2,
                        .vocabulary = 128,
                        .sequence = 32,
                        .batch = 4};
  if (text->size() < model.sequence + 2)
    return Error{.message = "is shorter than a sequence", .file = options.text};
  auto program = build_gpt(model, {});
  if (!program.ok()) return program.error();
  Device device({.number = options.device});
  Session<float> session(std::move(*program), device, nullptr, 3);
  TextLoader loader(std::move(*text), {.batch = model.batch, .sequence = model.sequence});
  auto forward = [&] {
    const Batch batch = loader.next();
    std::ranges::copy(batch.tokens, session.index_data("tokens"));
    std::ranges::copy(batch.labels, session.index_data("labels"));
    session.forward();
  };
  for (int step = 0; step < options.training_steps; ++step) {
    forward();
    session.backward();
    session.optimizer_step({.rate = 3e-3});
    device.synchronize();
  }

  Activations result{.layers = options.layers, .width = options.width, .samples = options.samples};
  result.inputs.resize(options.layers * options.samples * options.width);
  result.targets.resize(result.inputs.size());
  const size_t rows = model.batch * model.sequence;
  for (size_t taken = 0; taken < options.samples; taken += rows) {
    forward();
    device.synchronize();
    const size_t count = std::min(rows, options.samples - taken) * options.width;
    for (size_t layer = 0; layer < options.layers; ++layer) {
      const std::string name = "layer." + std::to_string(layer);
      const size_t at = (layer * options.samples + taken) * options.width;
      std::copy_n(session.data(name + ".norm2"), count, &result.inputs[at]);
      std::copy_n(session.data(name + ".mlp.down"), count, &result.targets[at]);
    }
  }
  const size_t each = options.samples * options.width;
  for (size_t layer = 0; layer < options.layers; ++layer) {
    normalise(std::span(result.inputs).subspan(layer * each, each));
    normalise(std::span(result.targets).subspan(layer * each, each));
  }
  return result;
}

}  // namespace stallscope::trainer
