// Sequence parallelism: the same training with each rank's part of the tokens between blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ranks.h"
#include "trainer/models/bert.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kVocabulary = 40, kSequence = 6, kBatch = 2, kMasked = 5;

struct Variant {
  const char* name;
  bool is_gpt = false, masked_head = false, recompute = false, overlap = false, lowered = false;
  double dropout = 0;
};
constexpr Variant kVariants[] = {
    {.name = "gpt", .is_gpt = true},
    {.name = "bert"},
    {.name = "bert, masked head", .masked_head = true},
    {.name = "gpt, dropout", .is_gpt = true, .dropout = 0.2},
    {.name = "bert, dropout, recomputed", .recompute = true, .dropout = 0.2},
    {.name = "gpt, lowered, overlapping", .is_gpt = true, .overlap = true, .lowered = true},
    {.name = "bert, lowered, recomputed, overlapping",
     .recompute = true,
     .overlap = true,
     .lowered = true},
};

Result<Program> build(const Variant& it, Shard shard) {
  if (it.is_gpt)
    return build_gpt({.layers = 2,
                      .hidden = 16,
                      .heads = 4,
                      .vocabulary = kVocabulary,
                      .sequence = kSequence,
                      .batch = kBatch,
                      .dropout = it.dropout},
                     shard);
  return build_bert({.layers = 2,
                     .hidden = 16,
                     .heads = 4,
                     .vocabulary = kVocabulary,
                     .sequence = kSequence,
                     .batch = kBatch,
                     .masked = kMasked,
                     .masked_head = it.masked_head,
                     .dropout = it.dropout},
                    shard);
}

struct Training {
  std::vector<float> losses;
  std::vector<std::pair<std::string, std::vector<float>>> gradients;  ///< of the first step, whole
};

Training train(const Variant& it, int ranks, bool splits_rows) {
  Training result;
  on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
    shard.splits_rows = splits_rows;
    auto program = build(it, shard);
    REQUIRE(program.ok());
    if (it.recompute) recompute_layers(*program);
    if (it.lowered) REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
    if (it.overlap) overlap_collectives(*program);
    Session<float> session(std::move(*program), device, group, 3);
    for (size_t i = 0; i < session.size("tokens"); ++i)
      session.index_data("tokens")[i] = static_cast<int32_t>(random_bits(1, i) % kVocabulary);
    for (size_t i = 0; i < session.size("labels"); ++i)
      session.index_data("labels")[i] = it.is_gpt || it.masked_head || i < kMasked
                                            ? static_cast<int32_t>(random_bits(2, i) % kVocabulary)
                                            : -1;
    for (size_t i = 0; it.masked_head && i < kMasked; ++i)
      session.index_data("masked")[i] = static_cast<int32_t>(i);
    for (int step = 0; step < 8; ++step) {
      session.forward();
      session.backward();
      device.synchronize();
      if (shard.rank == 0) result.losses.push_back(*session.data("loss"));
      for (const TensorId id : session.program().parameters()) {
        const TensorInfo& of = session.program().tensor(id);
        if (step > 0 || shard.rank > 0 || of.shard_dimension >= 0) continue;
        const float* const values = session.data(of.gradient);
        result.gradients.emplace_back(of.name, std::vector<float>(values, values + of.size()));
      }
      session.optimizer_step({.rate = 3e-3});
      device.synchronize();
    }
  });
  std::ranges::sort(result.gradients);
  return result;
}

TEST_CASE("split rows train as one rank does") {
  for (const Variant& it : kVariants) {
    CAPTURE(std::string(it.name));
    const Training one = train(it, 1, false);
    CHECK(one.losses.back() < 0.95F * one.losses.front());
    for (const int ranks : {2, 4}) {
      CAPTURE(ranks);
      const Training split = train(it, ranks, true);
      for (size_t i = 0; i < one.losses.size(); ++i)
        CHECK(split.losses[i] == doctest::Approx(one.losses[i]).epsilon(1e-5));
      CHECK(train(it, ranks, true).losses == split.losses);  // deterministic for a layout
      // Parameters that every rank holds whole: each rank's part of the gradient was summed.
      size_t found = 0;
      for (const auto& [name, values] : split.gradients) {
        const auto whole =
            std::ranges::find(one.gradients, name, [](const auto& each) { return each.first; });
        if (whole == one.gradients.end()) continue;
        CAPTURE(name);
        ++found;
        double off = 0, norm = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          off += std::pow(values[i] - whole->second[i], 2);
          norm += std::pow(whole->second[i], 2);
        }
        CHECK(std::sqrt(off) <= 1e-5 * std::sqrt(norm) + 1e-7);
      }
      CHECK(found > 10);
    }
  }
}

TEST_CASE("split rows exchange parts of the tokens and keep less of them") {
  auto lowered = [](bool splits_rows) {
    auto program = build_bert({.hidden = 256, .vocabulary = 64}, {0, 2, 0, 1, splits_rows});
    REQUIRE(program.ok());
    REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
    return std::move(*program);
  };
  auto count = [](const Program& program, OpKind kind) {
    return std::ranges::count(program.ops, kind, &Op::kind);
  };
  const Program whole = lowered(false), split = lowered(true);
  CHECK(count(whole, OpKind::reduce_scatter) == 0);
  CHECK(count(split, OpKind::reduce_scatter) >= 8);  // two each way for each of two layers
  CHECK(count(split, OpKind::all_gather) >= 8);
  CHECK(count(split, OpKind::all_reduce) < count(whole, OpKind::all_reduce));
  const auto activations = static_cast<size_t>(Role::activation);
  CHECK(split.arena_elements[activations] < whole.arena_elements[activations]);
}

TEST_CASE("rows that do not divide over the ranks are refused") {
  const auto program = build_gpt({.sequence = 5, .batch = 3}, {0, 2, 0, 1, true});
  REQUIRE_FALSE(program.ok());
  CHECK(program.error().message.find("batch x sequence") != std::string::npos);
}

}  // namespace
}  // namespace stallscope::trainer
