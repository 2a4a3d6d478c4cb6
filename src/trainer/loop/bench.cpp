#include "trainer/loop/bench.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/units.h"
#include "collect/annotate.h"
#include "trainer/loop/finish.h"
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
                       .masked = masked_of(o)},
                      shard);
  if (o.model == "clt")
    return build_clt({.layers = o.layers,
                      .width = o.hidden,
                      .features = o.features,
                      .batch = o.batch * o.sequence,
                      .k = o.k},
                     shard);
  return Error{.message = "unknown model '" + o.model + "'", .remedy = "use gpt, bert or clt"};
}

// Parameters are kept four times: value, gradient and two moments (the gradient has its own arena).
Status check_memory(const Program& program, int ranks) {
  double elements = 2.0 * static_cast<double>(program.arena_elements[0]);
  for (const size_t n : program.arena_elements) elements += static_cast<double>(n);
  const double needed = elements * sizeof(float) * ranks;
  const double there =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed < 0.9 * there) return ok_status();
  return Error{.message = "this shape needs " + format_bytes(needed) + " of memory, " +
                          format_bytes(there) + " are free",
               .remedy = "use a smaller batch, sequence or model"};
}

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(CPU_COUNT(&set), 1);
}

// The inputs of one step, on the host, made before the loop.
class Inputs {
 public:
  Inputs(const BenchOptions& o, Session<float>& session)
      : session_(session),
        tokens_(session.device(), o.batch * o.sequence),
        labels_(session.device(), o.batch * o.sequence) {
    if (o.model == "clt") {
      fill_activations();
      return;
    }
    const size_t vocabulary = vocabulary_of(o);
    for (size_t i = 0; i < o.batch * o.sequence; ++i) {
      host_tokens_.push_back(static_cast<int32_t>(random_bits(1, i) % vocabulary));
      host_labels_.push_back(
          o.model == "gpt" ? static_cast<int32_t>(random_bits(1, i + 1) % vocabulary) : -1);
    }
    if (o.model != "bert") return;
    const size_t masked = masked_of(o);
    for (size_t m = 0; m < masked; ++m) {
      const size_t at = m * host_labels_.size() / masked;
      host_labels_[at] = host_tokens_[at];
      host_tokens_[at] = 0;
    }
  }
  void upload() {
    if (host_tokens_.empty()) return;
    tokens_.upload(session_.stream(), session_.index_data("tokens"), host_tokens_.data());
    labels_.upload(session_.stream(), session_.index_data("labels"), host_labels_.data());
  }

 private:
  void fill_activations() {
    for (const char* name : {"inputs", "targets"})
      for (size_t i = 0; i < session_.size(name); ++i)
        session_.data(name)[i] = static_cast<float>(2 * random_uniform(2, i) - 1);
  }
  Session<float>& session_;
  std::vector<int32_t> host_tokens_, host_labels_;
  PinnedPool<int32_t> tokens_, labels_;
};

int train(Rank& rank, const BenchOptions& o) {
  auto program = build(o, {rank.rank, rank.size});
  if (!program.ok()) stop(program.error());
  if (const Status status = check_memory(*program, rank.size); !status.ok()) stop(status.error());
  // Threads of all ranks together never exceed the cores.
  Device device({.number = rank.rank, .team = std::max(cores() / rank.size, 1)});
  Group group(rank.communicator, device);
  Session<float> session(std::move(*program), device, rank.size > 1 ? &group : nullptr, kSeed);
  Inputs inputs(o, session);
  for (int step = 0; step < o.steps; ++step) {
    const annotate::Scope range("step");
    inputs.upload();
    session.forward();
    session.backward();
    session.optimizer_step({.rate = 1e-4});
  }
  return finish_run(device, rank.rank, session.data("loss"));
}

}  // namespace

int run_bench(const BenchOptions& options) {
  // Refused here once, not by every rank.
  auto program = build(options, {0, options.ranks});
  if (!program.ok()) stop(program.error());
  if (const Status status = check_memory(*program, options.ranks); !status.ok())
    stop(status.error());
  return run_ranks(options.ranks, [&](Rank& rank) { return train(rank, options); });
}

}  // namespace stallscope::trainer
