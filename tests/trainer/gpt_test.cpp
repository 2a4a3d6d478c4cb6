#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "ranks.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr uint64_t kSeed = 7;

template <typename T>
void fill_inputs(Session<T>& session, const GptConfig& config) {
  const size_t rows = config.batch * config.sequence;
  for (size_t i = 0; i < rows; ++i) {
    session.index_data("tokens")[i] = static_cast<int32_t>(random_bits(1, i) % config.vocabulary);
    session.index_data("labels")[i] = static_cast<int32_t>(random_bits(2, i) % config.vocabulary);
  }
  const size_t n = config.sequence;
  if (config.explicit_mask) {
    for (size_t i = 0; i < n * n; ++i)
      session.data("mask")[i] = i % n <= i / n ? T(0) : -std::numeric_limits<T>::infinity();
  }
  if (config.explicit_positions) {
    for (size_t i = 0; i < n * config.hidden; ++i)
      session.data("positions")[i] = static_cast<T>(random_uniform(3, i));
  }
}

template <typename T>
T loss_of(Session<T>& session) {
  session.forward();
  session.device().synchronize();
  return *session.data("loss");
}

// Every parameter's gradient against central differences, at a few elements each.
void check_gradients(const GptConfig& config, int ranks) {
  on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
    auto program = build_gpt(config, shard);
    REQUIRE(program.ok());
    Session<double> session(std::move(*program), device, group, kSeed);
    fill_inputs(session, config);
    session.forward();
    session.backward();
    device.synchronize();
    for (const TensorId id : session.program().parameters()) {
      const TensorInfo& info = session.program().tensor(id);
      double* const values = session.data(id);
      const std::vector<double> gradient(session.data(info.gradient),
                                         session.data(info.gradient) + info.size());
      double largest = 1e-12;
      for (const double g : gradient) largest = std::max(largest, std::fabs(g));
      // The same elements of the whole tensor are moved on every rank that holds them.
      size_t whole = 1;
      for (const size_t n : info.full_shape) whole *= n;
      for (int probe = 0; probe < 3; ++probe) {
        const size_t target = random_bits(11, static_cast<uint64_t>(probe)) % whole;
        ptrdiff_t local = -1;
        for (size_t i = 0; i < info.size(); ++i)
          if (place_in_whole(info, shard.rank, i) == target) local = static_cast<ptrdiff_t>(i);
        constexpr double kStep = 1e-5;
        const double original = local >= 0 ? values[local] : 0;
        if (local >= 0) values[local] = original + kStep;
        const double above = loss_of(session);
        if (local >= 0) values[local] = original - kStep;
        const double below = loss_of(session);
        if (local < 0) continue;
        values[local] = original;
        const double numeric = (above - below) / (2 * kStep);
        CAPTURE(info.name);
        CAPTURE(target);
        CHECK(gradient[static_cast<size_t>(local)] ==
              doctest::Approx(numeric).epsilon(1e-5).scale(largest));
      }
    }
  });
}

TEST_CASE("GPT's gradients agree with finite differences") {
  const GptConfig small{
      .layers = 2, .hidden = 12, .heads = 4, .vocabulary = 14, .sequence = 5, .batch = 2};
  GptConfig explicit_inputs = small;
  explicit_inputs.explicit_mask = explicit_inputs.explicit_positions = true;
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    check_gradients(small, ranks);
    check_gradients(explicit_inputs, ranks);
  }
}

template <typename T>
std::vector<T> train(const GptConfig& config, int ranks, int steps) {
  std::vector<T> losses;
  on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
    auto program = build_gpt(config, shard);
    REQUIRE(program.ok());
    Session<T> session(std::move(*program), device, group, kSeed);
    fill_inputs(session, config);
    for (int step = 0; step < steps; ++step) {
      const T loss = loss_of(session);
      session.backward();
      session.optimizer_step({});
      if (shard.rank == 0) losses.push_back(loss);
    }
  });
  return losses;
}

TEST_CASE("GPT's losses fall, and are the same for every tensor-parallel layout") {
  const GptConfig config{
      .layers = 2, .hidden = 32, .heads = 4, .vocabulary = 32, .sequence = 16, .batch = 2};
  const auto one = train<float>(config, 1, 20);
  const auto precise = train<double>(config, 1, 20);
  CHECK(one.front() == doctest::Approx(std::log(32.0)).epsilon(0.05));
  CHECK(one.back() < 0.8F * one.front());
  for (size_t i = 0; i < one.size(); ++i)
    CHECK(one[i] == doctest::Approx(precise[i]).epsilon(1e-4));
  for (const int ranks : {2, 4}) {
    const auto many = train<float>(config, ranks, 20);
    for (size_t i = 0; i < one.size(); ++i) CHECK(many[i] == doctest::Approx(one[i]).epsilon(1e-5));
  }
}

TEST_CASE("GPT refuses shapes that do not divide") {
  CHECK_FALSE(build_gpt({.hidden = 10, .heads = 4}, {}).ok());
  CHECK_FALSE(build_gpt({.hidden = 9, .heads = 3}, {.rank = 0, .size = 2}).ok());
  CHECK_FALSE(build_gpt({.vocabulary = 31}, {.rank = 0, .size = 2}).ok());
  CHECK_FALSE(build_gpt({.layers = 0}, {}).ok());
}

}  // namespace
}  // namespace stallscope::trainer
