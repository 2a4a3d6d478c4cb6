// Dropout, padding, gradient accumulation and recomputation.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "differences.h"
#include "ranks.h"
#include "trainer/models/bert.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kVocabulary = 40, kSequence = 9;
constexpr int32_t kLengths[] = {9, 4, 1, 7};

GptConfig gpt_config() {
  return {.layers = 2,
          .hidden = 16,
          .heads = 4,
          .vocabulary = kVocabulary,
          .sequence = kSequence,
          .batch = 4};
}
BertConfig bert_config() {
  return {.layers = 2,
          .hidden = 16,
          .heads = 4,
          .vocabulary = kVocabulary,
          .sequence = kSequence,
          .batch = 4,
          .masked = 6};
}

size_t counted_tokens() {
  size_t sum = 0;
  for (const int32_t length : kLengths) sum += static_cast<size_t>(length);
  return sum;
}

// Samples [first, ...) of a fixed data set; `pad` is what lies behind a sample's length.
template <typename T>
void fill_inputs(Session<T>& session, size_t first = 0, int32_t pad = 0) {
  const bool padded = session.program().find("lengths") != kNoTensor;
  for (size_t i = 0; i < session.size("tokens"); ++i) {
    const size_t sample = i / kSequence + first, place = first * kSequence + i;
    const bool is_pad = padded && static_cast<int32_t>(i % kSequence) >= kLengths[sample];
    session.index_data("tokens")[i] =
        is_pad ? pad : static_cast<int32_t>(random_bits(1, place) % kVocabulary);
    session.index_data("labels")[i] =
        is_pad ? -1 : static_cast<int32_t>(random_bits(2, place) % kVocabulary);
  }
  if (!padded) return;
  for (size_t b = 0; b < session.size("lengths"); ++b)
    session.index_data("lengths")[b] = kLengths[first + b];
}

template <typename T>
std::vector<std::vector<T>> gradients_of(Session<T>& session) {
  session.device().synchronize();
  std::vector<std::vector<T>> all;
  for (const TensorId id : session.program().parameters()) {
    const TensorInfo& it = session.program().tensor(id);
    all.emplace_back(session.data(it.gradient), session.data(it.gradient) + it.size());
  }
  return all;
}

TEST_CASE("gradients with dropout and padding agree with finite differences") {
  GptConfig gpt = gpt_config();
  BertConfig bert = bert_config();
  gpt.padded = bert.padded = true;
  gpt.dropout = bert.dropout = 0.3;
  gpt.counted = bert.masked = counted_tokens();
  for (auto program : {build_gpt(gpt, {}), build_bert(bert, {})}) {
    REQUIRE(program.ok());
    Device device({});
    Session<double> session(std::move(*program), device, nullptr, 3);
    fill_inputs(session);
    auto loss = [&] {
      session.index_data("dropout.passes")[0] = 5;
      session.forward();
      device.synchronize();
      return *session.data("loss");
    };
    loss();
    session.backward();
    const auto gradients = gradients_of(session);
    size_t number = 0;
    for (const TensorId id : session.program().parameters()) {
      const TensorInfo& info = session.program().tensor(id);
      CAPTURE(info.name);
      const std::vector<double>& gradient = gradients[number++];
      for (const size_t i : {info.size() / 2, info.size() / 3, info.size() - 1}) {
        double& value = session.data(id)[i];
        const auto [above, below] = above_and_below(value, 1e-5, loss);
        CHECK(gradient[i] == doctest::Approx((above - below) / 2e-5).epsilon(1e-5).scale(0.1));
      }
    }
  }
}

TEST_CASE("what lies in padding changes nothing") {
  GptConfig config = gpt_config();
  config.padded = true, config.counted = counted_tokens();
  auto run = [&](int32_t pad) {
    auto program = build_gpt(config, {});
    REQUIRE(program.ok());
    Device device({});
    Session<float> session(std::move(*program), device, nullptr, 3);
    fill_inputs(session, 0, pad);
    session.forward();
    session.backward();
    auto gradients = gradients_of(session);
    gradients.push_back({*session.data("loss")});
    return gradients;
  };
  CHECK(run(0) == run(31));
}

TEST_CASE("dropout drops its share, anew in each pass, the same for any number of ranks") {
  GptConfig config = gpt_config();
  config.dropout = 0.25;
  auto losses = [&](int ranks) {
    std::vector<float> result;
    on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
      auto program = build_gpt(config, shard);
      REQUIRE(program.ok());
      Session<float> session(std::move(*program), device, group, 3);
      fill_inputs(session);
      std::vector<float> dropped[2];
      for (int step = 0; step < 6; ++step) {
        session.forward();
        device.synchronize();
        if (step < 2)
          dropped[step].assign(
              session.data("embedding.dropped"),
              session.data("embedding.dropped") + session.size("embedding.dropped"));
        session.backward();
        session.optimizer_step({});
        device.synchronize();
        if (shard.rank == 0) result.push_back(*session.data("loss"));
      }
      const auto zeros = static_cast<double>(std::ranges::count(dropped[0], 0.0F));
      CHECK(zeros / static_cast<double>(dropped[0].size()) == doctest::Approx(0.25).epsilon(0.2));
      size_t both = 0;
      for (size_t i = 0; i < dropped[0].size(); ++i)
        both += dropped[0][i] == 0 && dropped[1][i] == 0 ? 1 : 0;
      CHECK(static_cast<double>(both) < 0.5 * zeros);
    });
    return result;
  };
  const auto one = losses(1), two = losses(2), four = losses(4);
  for (size_t i = 0; i < one.size(); ++i) {
    CHECK(two[i] == doctest::Approx(one[i]).epsilon(1e-5));
    CHECK(four[i] == doctest::Approx(one[i]).epsilon(1e-5));
  }
}

TEST_CASE("a step in parts is the step of the whole batch") {
  auto train = [&](size_t parts, bool lowered, int ranks) {
    std::vector<float> losses;
    on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
      GptConfig config = gpt_config();
      config.parts = parts, config.batch /= parts;
      auto program = build_gpt(config, shard);
      REQUIRE(program.ok());
      const ProductLibrary* library = lowered ? product_library() : nullptr;
      if (lowered) REQUIRE(lower(*program, Precision::fp32, library).ok());
      Session<float> session(std::move(*program), device, group, 3, library);
      for (int step = 0; step < 8; ++step) {
        float loss = 0;
        for (size_t part = 0; part < parts; ++part) {
          fill_inputs(session, part * config.batch);
          session.forward();
          session.backward();
          device.synchronize();
          loss += *session.data("loss");
        }
        session.optimizer_step({.rate = 3e-3});
        device.synchronize();
        if (shard.rank == 0) losses.push_back(loss);
      }
    });
    return losses;
  };
  const auto whole = train(1, false, 1);
  CHECK(whole.back() < 0.95F * whole.front());
  for (const auto& parts :
       {train(2, false, 1), train(4, false, 1), train(2, true, 1), train(2, true, 2)})
    for (size_t i = 0; i < whole.size(); ++i)
      CHECK(parts[i] == doctest::Approx(whole[i]).epsilon(2e-5));
}

TEST_CASE("layers computed again give the same bits with less memory") {
  BertConfig bert = bert_config();
  GptConfig gpt = gpt_config();
  bert.layers = gpt.layers = 4;
  bert.dropout = gpt.dropout = 0.2;
  bert.masked = 36;
  for (const bool is_gpt : {false, true}) {
    for (const int ranks : {1, 2}) {
      CAPTURE(is_gpt);
      CAPTURE(ranks);
      size_t memory[2] = {};
      auto train = [&](bool again) {
        std::vector<float> losses;
        on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
          auto program = is_gpt ? build_gpt(gpt, shard) : build_bert(bert, shard);
          REQUIRE(program.ok());
          if (again) recompute_layers(*program);
          REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
          if (shard.rank == 0)
            memory[again] = program->arena_elements[static_cast<size_t>(Role::activation)];
          Session<float> session(std::move(*program), device, group, 3);
          fill_inputs(session);
          for (int step = 0; step < 5; ++step) {
            session.forward();
            session.backward();
            session.optimizer_step({});
            device.synchronize();
            if (shard.rank == 0) losses.push_back(*session.data("loss"));
          }
        });
        return losses;
      };
      CHECK(train(true) == train(false));
      CHECK(memory[1] < memory[0] * 2 / 3);
    }
  }
}

}  // namespace
}  // namespace stallscope::trainer
