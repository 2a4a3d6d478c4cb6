#include "trainer/loop/bench.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/units.h"
#include "collect/annotate.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/loop/facts.h"
#include "trainer/loop/finish.h"
#include "trainer/loop/limits.h"
#include "trainer/loop/pinned_pool.h"
#include "trainer/loop/ranks.h"
#include "trainer/models/bert.h"
#include "trainer/models/clt.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr uint64_t kSeed = 1;
constexpr size_t kGptVocabulary = 50304;   // 50,257 rounded up to a multiple of 64
constexpr size_t kBertVocabulary = 30528;  // 30,522 likewise
constexpr double kMaskedShare = 0.15;

size_t heads_of(const BenchOptions& o) {
  return o.heads != 0 ? o.heads : std::max(o.hidden / 64, static_cast<size_t>(o.ranks));
}

// Elements of a bucket of gradients that are summed together: 25 MB.
constexpr size_t kBucket = 25'000'000 / sizeof(float);

size_t replicas_of(const BenchOptions& o) {
  return static_cast<size_t>(o.replicas);
}

// Of one pass of one replica.
size_t batch_of(const BenchOptions& o) {
  return o.batch / o.parts / replicas_of(o);
}

// The length of a sequence, the same in every part of the batch: padding is spread evenly between
// none and twice its share.
size_t length_of(const BenchOptions& o, size_t sample) {
  const double padding = 2 * o.padding * random_uniform(7, sample % batch_of(o));
  const auto tokens = static_cast<size_t>(padding * static_cast<double>(o.sequence));
  return o.sequence - std::min(tokens, o.sequence - 1);
}

// Tokens of one part that are no padding.
size_t tokens_of(const BenchOptions& o) {
  size_t sum = 0;
  for (size_t sample = 0; sample < batch_of(o); ++sample) sum += length_of(o, sample);
  return sum;
}

// Of one part.
size_t masked_of(const BenchOptions& o) {
  return std::max<size_t>(static_cast<size_t>(kMaskedShare * static_cast<double>(tokens_of(o))), 1);
}

size_t vocabulary_of(const BenchOptions& o) {
  if (o.vocabulary != 0) return o.vocabulary;
  return o.model == "bert" ? kBertVocabulary : kGptVocabulary;
}

Result<Program> build(const BenchOptions& o, Shard shard) {
  if (o.model == "gpt")
    return build_gpt({.layers = o.layers,
                      .hidden = o.hidden,
                      .heads = heads_of(o),
                      .vocabulary = vocabulary_of(o),
                      .sequence = o.sequence,
                      .batch = batch_of(o),
                      .dropout = o.dropout,
                      .padded = o.padding > 0,
                      .parts = o.parts,
                      .counted = tokens_of(o) * o.parts},
                     shard);
  if (o.model == "bert")
    return build_bert({.layers = o.layers,
                       .hidden = o.hidden,
                       .heads = heads_of(o),
                       .vocabulary = vocabulary_of(o),
                       .sequence = o.sequence,
                       .batch = batch_of(o),
                       .masked = masked_of(o),
                       .masked_head = o.masked_head,
                       .dropout = o.dropout,
                       .padded = o.padding > 0,
                       .parts = o.parts},
                      shard);
  if (o.model == "clt")
    return build_clt({.layers = o.layers,
                      .width = o.hidden,
                      .features = o.features,
                      .batch = batch_of(o) * o.sequence,
                      .k = o.k,
                      .sparse = !o.dense_decoder,
                      .activation = o.activation,
                      .dead_after = o.dead_after},
                     shard);
  return Error{.message = "unknown model '" + o.model + "'", .remedy = "use gpt, bert or clt"};
}

const ProductLibrary* library_of(const BenchOptions& o) {
  return o.own_kernels ? nullptr : product_library();
}

struct Lowered {
  Program program;
  MemoryFacts memory;
};

// Parameters are kept three times beside their gradients, which have an arena of their own.
double bytes_of(const Program& program, size_t activations) {
  double elements = 2.0 * static_cast<double>(program.arena_elements[0]);
  for (const size_t n : program.arena_elements) elements += static_cast<double>(n);
  elements += static_cast<double>(activations) -
              static_cast<double>(program.arena_elements[static_cast<size_t>(Role::activation)]);
  return elements * sizeof(float);
}

Result<Lowered> lowered(const BenchOptions& o, Shard shard) {
  auto program = build(o, shard);
  if (!program.ok()) return program.error();
  if (o.recompute) recompute_layers(*program);
  const auto live = lower(*program, o.precision, library_of(o));
  if (!live.ok()) {
    std::string why;
    product_library(&why);
    return Error{.message = live.error().message + (why.empty() ? "" : ": " + why)};
  }
  if (o.replicas > 1) reduce_gradients(*program, kBucket);
  if (o.overlap) overlap_collectives(*program);
  const size_t planned = program->arena_elements[static_cast<size_t>(Role::activation)];
  const MemoryFacts memory{bytes_of(*program, planned), bytes_of(*program, *live)};
  return Lowered{std::move(*program), memory};
}

// What any layout needs at least, in floating point: sizes may be absurd.
double least_bytes(const BenchOptions& o) {
  auto real = [](size_t n) { return static_cast<double>(n); };
  const double rows = real(batch_of(o)) * real(o.sequence), layers = real(o.layers);
  double parameters = 0, activations = 0;
  if (o.model == "clt") {
    const double pairs = layers + layers * (layers + 1) / 2;
    parameters = pairs * real(o.hidden) * real(o.features);
    activations = layers * rows * real(o.features);
  } else {
    const double vocabulary = real(vocabulary_of(o));
    parameters = 12 * layers * real(o.hidden) * real(o.hidden) + vocabulary * real(o.hidden);
    activations = (o.recompute ? 1 : layers) * rows * real(o.hidden) * 12 +
                  (o.masked_head ? real(masked_of(o)) : rows) * vocabulary;
  }
  return sizeof(float) * (4 * parameters + activations);
}

Status check_memory(double needed) {
  const double there = memory_limit();
  if (needed < 0.9 * there) return ok_status();
  return Error{.message = "this shape needs " + format_bytes(needed) + " of memory, " +
                          format_bytes(there) + " are free",
               .remedy = "use a smaller batch, sequence or model"};
}

// The inputs of one step, on the host, made before the loop: one batch for each part of a step.
class Inputs {
 public:
  Inputs(const BenchOptions& o, size_t replica, Session<float>& session)
      : session_(session),
        tokens_(session.device(), batch_of(o) * o.sequence),
        labels_(session.device(), o.masked_head ? masked_of(o) : batch_of(o) * o.sequence) {
    if (o.model == "clt") {
      fill_activations(o, replica);
      return;
    }
    const size_t ahead = steps_ahead(session.program());
    tokens_.reserve(ahead);
    labels_.reserve(ahead);
    for (size_t part = 0; part < o.parts; ++part)
      parts_.push_back(make_part(o, replica * o.parts + part));
    if (o.masked_head) std::ranges::copy(masked_rows(o), session.index_data("masked"));
    if (o.padding > 0)
      for (size_t b = 0; b < batch_of(o); ++b)
        session.index_data("lengths")[b] = static_cast<int32_t>(length_of(o, b));
  }
  void upload(size_t part = 0) {
    if (parts_.empty()) return;
    tokens_.upload(session_.stream(), session_.index_data("tokens"), parts_[part].tokens.data());
    labels_.upload(session_.stream(), session_.index_data("labels"), parts_[part].labels.data());
  }

 private:
  struct Part {
    std::vector<int32_t> tokens, labels;
  };

  // Rows of tokens that are no padding, of one part.
  static std::vector<int32_t> used_rows(const BenchOptions& o) {
    std::vector<int32_t> rows;
    for (size_t b = 0; b < batch_of(o); ++b)
      for (size_t i = 0; i < length_of(o, b); ++i)
        rows.push_back(static_cast<int32_t>(b * o.sequence + i));
    return rows;
  }
  static std::vector<int32_t> masked_rows(const BenchOptions& o) {
    const std::vector<int32_t> used = used_rows(o);
    const size_t masked = masked_of(o);
    std::vector<int32_t> rows;
    for (size_t m = 0; m < masked; ++m) rows.push_back(used[m * used.size() / masked]);
    return rows;
  }
  static Part make_part(const BenchOptions& o, size_t number) {
    const size_t count = batch_of(o) * o.sequence, vocabulary = vocabulary_of(o);
    Part part{std::vector<int32_t>(count), std::vector<int32_t>(count, -1)};
    for (const int32_t row : used_rows(o)) {
      const size_t place = number * count + static_cast<size_t>(row);
      const auto r = static_cast<size_t>(row);
      part.tokens[r] = static_cast<int32_t>(random_bits(1, place) % vocabulary);
      if (o.model == "gpt")
        part.labels[r] = static_cast<int32_t>(random_bits(1, place + 1) % vocabulary);
    }
    if (o.model != "bert") return part;
    std::vector<int32_t> restored;
    for (const int32_t row : masked_rows(o)) {
      const auto r = static_cast<size_t>(row);
      part.labels[r] = std::exchange(part.tokens[r], 0);
      restored.push_back(part.labels[r]);
    }
    if (o.masked_head) part.labels = std::move(restored);
    return part;
  }
  // Of every layer, the replica's part of the batch.
  void fill_activations(const BenchOptions& o, size_t replica) {
    const size_t part = batch_of(o) * o.sequence * o.hidden;
    for (const char* name : {"inputs", "targets"}) {
      for (size_t i = 0; i < session_.size(name); ++i) {
        const size_t place = (i / part * replicas_of(o) + replica) * part + i % part;
        session_.data(name)[i] = static_cast<float>(2 * random_uniform(2, place) - 1);
      }
    }
    if (session_.program().find("sparsity") != kNoTensor)
      *session_.data("sparsity") = static_cast<float>(o.sparsity);
  }
  Session<float>& session_;
  std::vector<Part> parts_;
  PinnedPool<int32_t> tokens_, labels_;
};

// A run of hours would end in nothing.
Status check_outputs(const BenchOptions& o) {
  for (const std::string& path : {o.save, o.record, o.facts}) {
    if (path.empty()) continue;
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    if (access(folder.c_str(), W_OK) != 0)
      return Error{.message = "cannot be written: its folder is missing or closed to this user",
                   .file = path};
  }
  return ok_status();
}

// A loss that is no number fails the device at once: the parameters stay those of that step.
void check_loss(Session<float>& session) {
  session.stream().enqueue([&session, loss = session.data("loss"), step = session.steps() + 1] {
    if (session.device().failed() || std::isfinite(*loss)) return;
    session.device().fail(
        Error{.message = "step " + std::to_string(step) + ": the loss is " + std::to_string(*loss),
              .code = "loss-not-finite"});
  });
}

// The loss of a step is the sum of its parts', left where the last part's was.
void add_loss(Session<float>& session, float& sum, bool last) {
  session.stream().enqueue([&sum, loss = session.data("loss"), last] {
    sum += *loss;
    if (last) *loss = std::exchange(sum, 0.0F);
  });
}

Status check_options(const BenchOptions& o) {
  const size_t parts = o.parts * replicas_of(o);
  if (o.batch % parts != 0)
    return Error{.message = "the batch (" + std::to_string(o.batch) +
                            ") must be a multiple of its parts (" + std::to_string(parts) + ")"};
  if (parts > 1 && !o.record.empty())
    return Error{.message = "a run in parts is not recorded for a check"};
  if (o.model == "clt" && o.splits_rows)
    return Error{.message = "a transcoder has no sequence to split: its tokens are independent"};
  if (o.model == "clt" && o.parts > 1)
    return Error{.message =
                     "a transcoder ranks features over its whole batch, which a step in "
                     "parts would change",
                 .remedy = "--dp splits the batch without changing what is selected"};
  if (o.model == "clt" && (o.dropout > 0 || o.padding > 0 || o.recompute))
    return Error{.message =
                     "a transcoder has no dropout, padding or recomputation: one layer of features "
                     "that its activation makes sparse, no sequences"};
  return ok_status();
}

int finish(Rank& rank, Session<float>& session) {
  Device& device = session.device();
  device.synchronize();
  if (const Status status = device.status();
      !status.ok() && status.error().code == "loss-not-finite") {
    device.recover();
    Error error = status.error();
    error.message += "; first not finite in " + session.first_non_finite();
    if (device.status().ok()) device.fail(std::move(error));
  }
  return finish_run(device, rank.rank, session.data("loss"));
}

Status train_and_record(const BenchOptions& o, Session<float>& session, Inputs& inputs) {
  inputs.upload();
  RunRecord record(session);
  for (int step = 0; step < o.steps; ++step) {
    session.forward();
    session.backward();
    if (step == 0) record.add_gradients();
    session.optimizer_step({.rate = o.rate});
    session.device().synchronize();
    record.add_loss(*session.data("loss"));
  }
  return record.write(o.record);
}

StepFacts step_facts(const BenchOptions& o) {
  StepFacts facts{.parts = o.parts,
                  .tokens = tokens_of(o) * o.parts * replicas_of(o),
                  .dead_after = o.dead_after};
  if (o.model == "clt") {
    facts.features = o.features, facts.k = o.k;
  } else {
    facts.heads = heads_of(o), facts.vocabulary = vocabulary_of(o);
  }
  return facts;
}

int train(Rank& rank, const BenchOptions& o) {
  auto grid = make_grid(rank, o.ranks, o.replicas);
  if (!grid.ok()) stop(grid.error());
  const Rank &tensor = (*grid)->tensor, &data = (*grid)->data;
  auto it = lowered(o, {tensor.rank, tensor.size, data.rank, data.size, o.splits_rows});
  if (!it.ok()) stop(it.error());
  // Threads of all ranks together never exceed the cores.
  Device device({.number = rank.rank, .team = std::max(cpu_limit() / rank.size, 1)});
  Group group(tensor.communicator, device), replicas(data.communicator, device);
  Session<float> session(std::move(it->program), device, tensor.size > 1 ? &group : nullptr, kSeed,
                         library_of(o), &replicas);
  auto must = [](const Status& status) {
    if (!status.ok()) stop(status.error());
  };
  if (!o.resume.empty()) must(load_checkpoint(o.resume, {tensor.rank, tensor.size}, session));
  Inputs inputs(o, static_cast<size_t>(data.rank), session);
  device.synchronize();
  StepEnds ends;
  float loss = 0;
  ends.reserve(static_cast<size_t>(o.steps));
  if (!o.record.empty()) {
    must(train_and_record(o, session, inputs));
  } else {
    for (int step = 0; step < o.steps && !device.failed(); ++step) {
      const annotate::Scope range("step");
      for (size_t part = 0; part < o.parts; ++part) {
        inputs.upload(part);
        session.forward();
        check_loss(session);
        session.backward(part + 1 == o.parts);
        if (o.parts > 1) add_loss(session, loss, part + 1 == o.parts);
      }
      session.optimizer_step({.rate = o.rate});
      session.stream().enqueue([&ends] { ends.push_back(now_ns()); });
    }
  }
  if (const int code = finish(rank, session); code != 0) return code;
  if (!o.save.empty() && data.rank == 0)
    must(save_checkpoint(checkpoint_path(o.save, tensor.rank, tensor.size), session));
  if (rank.rank == 0 && !o.facts.empty())
    must(write_facts(o.facts, session, it->memory, ends, library_of(o), step_facts(o)));
  return 0;
}

}  // namespace

int run_bench(const BenchOptions& options) {
  for (const Status& status : {check_options(options), check_outputs(options)})
    if (!status.ok()) stop(status.error());
  // Refused here once, not by every rank.
  if (const Status status = check_memory(least_bytes(options)); !status.ok()) stop(status.error());
  auto it = lowered(options, {0, options.ranks, 0, options.replicas, options.splits_rows});
  if (!it.ok()) stop(it.error());
  if (const Status status =
          check_memory(it->memory.planned_bytes * options.ranks * options.replicas);
      !status.ok())
    stop(status.error());
  return run_ranks(options.ranks * options.replicas,
                   [&](Rank& rank) { return train(rank, options); });
}

}  // namespace stallscope::trainer
