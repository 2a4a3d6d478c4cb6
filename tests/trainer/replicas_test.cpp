// Data parallelism on top of tensor parallelism, and collectives beside computation.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
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

constexpr size_t kVocabulary = 40, kSequence = 8, kBatch = 4;

struct Layout {
  int tensor = 1, replicas = 1;
  size_t parts = 1;
  bool overlap = false, splits_rows = false;
};

GptConfig config_of(const Layout& layout) {
  return {.layers = 2,
          .hidden = 16,
          .heads = 4,
          .vocabulary = kVocabulary,
          .sequence = kSequence,
          .batch = kBatch / static_cast<size_t>(layout.replicas) / layout.parts,
          .parts = layout.parts};
}

// Losses of some steps on a grid of threads, each replica with its own part of the batch.
std::vector<float> train(const Layout& layout, size_t bucket = 1000) {
  std::vector<float> losses;
  on_grid(
      layout.tensor, layout.replicas, [&](Shard shard, Device& device, Group& tensor, Group& data) {
        shard.splits_rows = layout.splits_rows;
        const GptConfig config = config_of(layout);
        auto program = build_gpt(config, shard);
        REQUIRE(program.ok());
        REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
        if (layout.replicas > 1) reduce_gradients(*program, bucket);
        if (layout.overlap) overlap_collectives(*program);
        Session<float> session(std::move(*program), device, &tensor, 3, nullptr, &data);
        for (int step = 0; step < 8; ++step) {
          float loss = 0;
          for (size_t part = 0; part < layout.parts; ++part) {
            const size_t rows = config.batch * kSequence;
            const size_t first = (static_cast<size_t>(shard.replica) * layout.parts + part) * rows;
            for (size_t i = 0; i < rows; ++i) {
              session.index_data("tokens")[i] =
                  static_cast<int32_t>(random_bits(1, first + i) % kVocabulary);
              session.index_data("labels")[i] =
                  static_cast<int32_t>(random_bits(2, first + i) % kVocabulary);
            }
            session.forward();
            session.backward(part + 1 == layout.parts);
            device.synchronize();
            loss += *session.data("loss");
          }
          session.optimizer_step({.rate = 3e-3});
          device.synchronize();
          if (shard.rank == 0 && shard.replica == 0) losses.push_back(loss);
        }
      });
  return losses;
}

TEST_CASE("replicas and shards compute what one rank does") {
  const auto one = train({});
  CHECK(one.back() < 0.95F * one.front());
  for (const Layout& layout :
       {Layout{.replicas = 2}, Layout{.replicas = 4}, Layout{.tensor = 2, .replicas = 2},
        Layout{.replicas = 2, .parts = 2}, Layout{.tensor = 2, .overlap = true},
        Layout{.tensor = 2, .replicas = 2, .overlap = true},
        Layout{.tensor = 2, .replicas = 2, .splits_rows = true},
        Layout{.tensor = 2, .parts = 2, .overlap = true, .splits_rows = true}}) {
    CAPTURE(layout.tensor);
    CAPTURE(layout.replicas);
    CAPTURE(layout.overlap);
    CAPTURE(layout.splits_rows);
    const auto losses = train(layout);
    for (size_t i = 0; i < one.size(); ++i)
      CHECK(losses[i] == doctest::Approx(one[i]).epsilon(1e-5));
    CHECK(train(layout) == losses);  // deterministic for a layout
  }
  // Whatever the buckets, each gradient is summed once.
  CHECK(train({.replicas = 2}, 1) == train({.replicas = 2}, 1 << 20));
}

TEST_CASE("buckets cover the gradients once, and start before the backward pass ends") {
  auto program = build_gpt({.layers = 4}, {0, 1, 0, 2});
  REQUIRE(program.ok());
  reduce_gradients(*program, 20000);
  std::vector<std::pair<size_t, size_t>> ranges;
  const uint32_t end = program->section("optimizer")->first;
  uint32_t first = end;
  for (uint32_t i = 0; i < program->ops.size(); ++i) {
    const Op& op = program->ops[i];
    if (op.kind != OpKind::all_reduce || op.stream != StreamRole::communication) continue;
    const TensorInfo& it = program->tensor(op.in[0]);
    ranges.emplace_back(it.offset, it.offset + it.size());
    first = std::min(first, i);
    CHECK(std::ranges::count(program->ops[end].waits, i) == 1);
  }
  std::ranges::sort(ranges);
  REQUIRE(ranges.size() > 3);
  CHECK(ranges.front().first == 0);
  for (size_t i = 1; i < ranges.size(); ++i) CHECK(ranges[i].first == ranges[i - 1].second);
  CHECK(ranges.back().second == program->arena_elements[static_cast<size_t>(Role::gradient)]);
  CHECK(first < end / 2 + end / 4);
}

TEST_CASE("sums over the group run beside the gradients of weights") {
  auto program = build_bert({}, {0, 2});
  REQUIRE(program.ok());
  REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
  overlap_collectives(*program);
  int beside = 0;
  for (const Op& op : program->ops) beside += op.stream == StreamRole::communication ? 1 : 0;
  CHECK(beside >= 4);  // two for each layer
}

// Whether `op` reads or writes (or, asked so, only writes) memory of the tensor.
bool uses(const Program& program, const Op& op, TensorId id, bool only_writes) {
  auto meets = [&](TensorId other) {
    if (other == kNoTensor) return false;
    const TensorInfo &a = program.tensor(id), &b = program.tensor(other);
    return a.role == b.role && a.offset < b.offset + b.room() && b.offset < a.offset + a.room();
  };
  return std::ranges::any_of(op.out, meets) || (!only_writes && std::ranges::any_of(op.in, meets));
}

bool conflict(const Program& program, const Op& a, const Op& b) {
  auto written_by_a = [&](TensorId id) { return id != kNoTensor && uses(program, b, id, false); };
  auto read_by_a = [&](TensorId id) { return id != kNoTensor && uses(program, b, id, true); };
  return std::ranges::any_of(a.out, written_by_a) || std::ranges::any_of(a.in, read_by_a);
}

// Pairs of ops on different streams that use the same memory, one of them writing, and that
// neither the order of a stream nor what it awaits puts in order.
int races(const Program& program) {
  constexpr size_t kStreams = 2;
  int found = 0;
  // Of each op, how many ops of each stream are surely done when it starts.
  std::vector<std::array<uint32_t, kStreams>> done(program.ops.size());
  std::array<std::array<uint32_t, kStreams>, kStreams> of_stream{};
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const auto own = static_cast<size_t>(op.stream);
    done[i] = of_stream[own];
    for (const uint32_t awaited : op.waits) {
      const auto other = static_cast<size_t>(program.ops[awaited].stream);
      for (size_t s = 0; s < kStreams; ++s) done[i][s] = std::max(done[i][s], done[awaited][s]);
      done[i][other] = std::max(done[i][other], awaited + 1);
    }
    for (uint32_t k = 0; k < i; ++k) {
      const auto other = static_cast<size_t>(program.ops[k].stream);
      if (other != own && k >= done[i][other] && conflict(program, program.ops[k], op)) ++found;
    }
    of_stream[own] = done[i];
    of_stream[own][own] = i + 1;
  }
  return found;
}

TEST_CASE("what runs beside computation never meets it in memory") {
  for (const Layout& layout :
       {Layout{.replicas = 2}, Layout{.tensor = 2, .overlap = true},
        Layout{.tensor = 2, .replicas = 2, .overlap = true},
        Layout{.tensor = 2, .overlap = true, .splits_rows = true},
        Layout{.tensor = 2, .replicas = 2, .parts = 2, .overlap = true, .splits_rows = true}}) {
    CAPTURE(layout.tensor);
    CAPTURE(layout.replicas);
    CAPTURE(layout.splits_rows);
    for (const size_t bucket : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
      auto program = build_gpt(config_of(layout), {.rank = 0,
                                                   .size = layout.tensor,
                                                   .replica = 0,
                                                   .replicas = layout.replicas,
                                                   .splits_rows = layout.splits_rows});
      REQUIRE(program.ok());
      REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
      if (layout.replicas > 1) reduce_gradients(*program, bucket);
      if (layout.overlap) overlap_collectives(*program);
      CHECK(races(*program) == 0);
    }
  }
}

}  // namespace
}  // namespace stallscope::trainer
