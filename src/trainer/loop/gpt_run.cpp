#include "trainer/loop/gpt_run.h"

#include "trainer/loop/finish.h"

namespace stallscope::trainer {
namespace {

Program program_of(const Rank& rank, const GptRunOptions& options) {
  const bool tensor = options.parallel == Parallel::tensor;
  auto program = build_gpt(options.model, tensor ? Shard{rank.rank, rank.size} : Shard{});
  if (!program.ok()) stop(program.error());
  return std::move(*program);
}

std::vector<int32_t> text_of(const GptRunOptions& options) {
  auto text = read_text(options.text);
  if (!text.ok()) stop(text.error());
  if (text->size() < options.model.sequence + 2)
    stop({.message = "is shorter than a sequence", .file = options.text});
  return std::move(*text);
}

LoaderOptions loader_of(const Rank& rank, const GptRunOptions& options) {
  const bool data = options.parallel == Parallel::data;
  return {.batch = options.model.batch,
          .sequence = options.model.sequence,
          .shard = data ? static_cast<size_t>(rank.rank) : 0,
          .shards = data ? static_cast<size_t>(rank.size) : 1,
          .prefetch = options.prefetch,
          .workers = options.workers,
          .preparation = options.preparation};
}

constexpr uint64_t kModelSeed = 20;

}  // namespace

GptRun::GptRun(Rank& own_rank, const GptRunOptions& options)
    : rank(own_rank),
      device({.number = own_rank.rank, .timing = options.timing}),
      group(own_rank.communicator, device),
      session(program_of(own_rank, options), device,
              options.parallel == Parallel::tensor && own_rank.size > 1 ? &group : nullptr,
              kModelSeed),
      loader(text_of(options), loader_of(own_rank, options)),
      tokens_(device, options.model.batch * options.model.sequence),
      labels_(device, options.model.batch * options.model.sequence) {
  const size_t ahead = steps_ahead(session.program());
  tokens_.reserve(ahead);
  labels_.reserve(ahead);
}

void GptRun::upload(const Batch& batch) {
  tokens_.upload(device.stream(), session.index_data("tokens"), batch.tokens.data());
  labels_.upload(device.stream(), session.index_data("labels"), batch.labels.data());
}

int GptRun::finish() {
  return finish_run(device, rank.rank, session.data("loss"));
}

}  // namespace stallscope::trainer
