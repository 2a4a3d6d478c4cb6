#include "trainer/loop/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
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

size_t masked_of(const BenchOptions& o) {
  return std::max<size_t>(
      static_cast<size_t>(kMaskedShare * static_cast<double>(o.batch * o.sequence)), 1);
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
                      .batch = o.batch},
                     shard);
  if (o.model == "bert")
    return build_bert({.layers = o.layers,
                       .hidden = o.hidden,
                       .heads = heads_of(o),
                       .vocabulary = vocabulary_of(o),
                       .sequence = o.sequence,
                       .batch = o.batch,
                       .masked = masked_of(o),
                       .masked_head = o.masked_head},
                      shard);
  if (o.model == "clt")
    return build_clt({.layers = o.layers,
                      .width = o.hidden,
                      .features = o.features,
                      .batch = o.batch * o.sequence,
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
  const auto live = lower(*program, o.precision, library_of(o));
  if (!live.ok()) {
    std::string why;
    product_library(&why);
    return Error{.message = live.error().message + (why.empty() ? "" : ": " + why)};
  }
  const size_t planned = program->arena_elements[static_cast<size_t>(Role::activation)];
  const MemoryFacts memory{bytes_of(*program, planned), bytes_of(*program, *live)};
  return Lowered{std::move(*program), memory};
}

// What any layout needs at least, in floating point: sizes may be absurd.
double least_bytes(const BenchOptions& o) {
  auto real = [](size_t n) { return static_cast<double>(n); };
  const double rows = real(o.batch) * real(o.sequence), layers = real(o.layers);
  double parameters = 0, activations = 0;
  if (o.model == "clt") {
    const double pairs = layers + layers * (layers + 1) / 2;
    parameters = pairs * real(o.hidden) * real(o.features);
    activations = layers * rows * real(o.features);
  } else {
    const double vocabulary = real(vocabulary_of(o));
    parameters = 12 * layers * real(o.hidden) * real(o.hidden) + vocabulary * real(o.hidden);
    activations = layers * rows * real(o.hidden) * 12 +
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

// The inputs of one step, on the host, made before the loop.
class Inputs {
 public:
  Inputs(const BenchOptions& o, Session<float>& session)
      : session_(session),
        tokens_(session.device(), o.batch * o.sequence),
        labels_(session.device(), o.masked_head ? masked_of(o) : o.batch * o.sequence) {
    if (o.model == "clt") {
      fill_activations(o.sparsity);
      return;
    }
    // The host runs ahead of the device until the stream's queue is full.
    const size_t ahead = Stream::kDepth / session.program().ops.size() + 2;
    tokens_.reserve(ahead);
    labels_.reserve(ahead);
    const size_t vocabulary = vocabulary_of(o);
    for (size_t i = 0; i < o.batch * o.sequence; ++i) {
      host_tokens_.push_back(static_cast<int32_t>(random_bits(1, i) % vocabulary));
      host_labels_.push_back(
          o.model == "gpt" ? static_cast<int32_t>(random_bits(1, i + 1) % vocabulary) : -1);
    }
    if (o.model != "bert") return;
    const size_t masked = masked_of(o);
    std::vector<int32_t> rows, restored;
    for (size_t m = 0; m < masked; ++m) {
      const size_t at = m * host_labels_.size() / masked;
      rows.push_back(static_cast<int32_t>(at));
      restored.push_back(host_tokens_[at]);
      host_labels_[at] = host_tokens_[at];
      host_tokens_[at] = 0;
    }
    if (!o.masked_head) return;
    host_labels_ = std::move(restored);
    std::ranges::copy(rows, session.index_data("masked"));
  }
  void upload() {
    if (host_tokens_.empty()) return;
    tokens_.upload(session_.stream(), session_.index_data("tokens"), host_tokens_.data());
    labels_.upload(session_.stream(), session_.index_data("labels"), host_labels_.data());
  }

 private:
  void fill_activations(double sparsity) {
    for (const char* name : {"inputs", "targets"})
      for (size_t i = 0; i < session_.size(name); ++i)
        session_.data(name)[i] = static_cast<float>(2 * random_uniform(2, i) - 1);
    if (session_.program().find("sparsity") != kNoTensor)
      *session_.data("sparsity") = static_cast<float>(sparsity);
  }
  Session<float>& session_;
  std::vector<int32_t> host_tokens_, host_labels_;
  PinnedPool<int32_t> tokens_, labels_;
};

// A loss that is no number fails the device at once: the parameters stay those of that step.
void check_loss(Session<float>& session) {
  session.stream().enqueue([&session, loss = session.data("loss"), step = session.steps() + 1] {
    if (session.device().failed() || std::isfinite(*loss)) return;
    session.device().fail(
        Error{.message = "step " + std::to_string(step) + ": the loss is " + std::to_string(*loss),
              .code = "loss-not-finite"});
  });
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

int train(Rank& rank, const BenchOptions& o) {
  auto it = lowered(o, {rank.rank, rank.size});
  if (!it.ok()) stop(it.error());
  // Threads of all ranks together never exceed the cores.
  Device device({.number = rank.rank, .team = std::max(cpu_limit() / rank.size, 1)});
  Group group(rank.communicator, device);
  Session<float> session(std::move(it->program), device, rank.size > 1 ? &group : nullptr, kSeed,
                         library_of(o));
  auto must = [](const Status& status) {
    if (!status.ok()) stop(status.error());
  };
  if (!o.resume.empty())
    must(load_checkpoint(checkpoint_path(o.resume, rank.rank, rank.size), session));
  Inputs inputs(o, session);
  device.synchronize();
  StepEnds ends;
  ends.reserve(static_cast<size_t>(o.steps));
  if (!o.record.empty()) {
    must(train_and_record(o, session, inputs));
  } else {
    for (int step = 0; step < o.steps && !device.failed(); ++step) {
      const annotate::Scope range("step");
      inputs.upload();
      session.forward();
      check_loss(session);
      session.backward();
      session.optimizer_step({.rate = o.rate});
      session.stream().enqueue([&ends] { ends.push_back(now_ns()); });
    }
  }
  if (const int code = finish(rank, session); code != 0) return code;
  if (!o.save.empty())
    must(save_checkpoint(checkpoint_path(o.save, rank.rank, rank.size), session));
  if (rank.rank == 0 && !o.facts.empty())
    must(write_facts(o.facts, session, it->memory, ends, library_of(o), o.dead_after));
  return 0;
}

}  // namespace

int run_bench(const BenchOptions& options) {
  // Refused here once, not by every rank.
  if (const Status status = check_memory(least_bytes(options)); !status.ok()) stop(status.error());
  auto it = lowered(options, {0, options.ranks});
  if (!it.ok()) stop(it.error());
  if (const Status status = check_memory(it->memory.planned_bytes * options.ranks); !status.ok())
    stop(status.error());
  return run_ranks(options.ranks, [&](Rank& rank) { return train(rank, options); });
}

}  // namespace stallscope::trainer
