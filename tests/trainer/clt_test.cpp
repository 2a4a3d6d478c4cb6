#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "differences.h"
#include "ranks.h"
#include "trainer/models/clt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr uint64_t kSeed = 5;

template <typename T>
void fill_inputs(Session<T>& session) {
  for (size_t i = 0; i < session.size("inputs"); ++i) {
    session.data("inputs")[i] = static_cast<T>(2 * random_uniform(1, i) - 1);
    session.data("targets")[i] = static_cast<T>(2 * random_uniform(2, i) - 1);
  }
}

TEST_CASE("CLT's gradients agree with finite differences") {
  const CltConfig c{.layers = 3, .width = 5, .features = 12, .batch = 6, .k = 4};
  on_ranks(1, [&](Shard shard, Device& device, Group* group) {
    auto program = build_clt(c, shard);
    REQUIRE(program.ok());
    Session<double> session(std::move(*program), device, group, kSeed);
    fill_inputs(session);
    session.forward();
    session.backward();
    device.synchronize();
    auto loss = [&] {  // with the selection held, since nothing flows back through it
      session.run("encode");
      session.run("decode");
      device.synchronize();
      return *session.data("loss");
    };
    for (const TensorId id : session.program().parameters()) {
      const TensorInfo& info = session.program().tensor(id);
      const std::vector<double> gradient(session.data(info.gradient),
                                         session.data(info.gradient) + info.size());
      for (size_t i = 0; i < info.size(); ++i) {
        double& value = session.data(id)[i];
        const auto [above, below] = above_and_below(value, 1e-5, loss);
        CAPTURE(info.name);
        CHECK(gradient[i] == doctest::Approx((above - below) / 2e-5).epsilon(1e-6).scale(1e-3));
      }
    }
  });
}

// Every form of the sparse transcoder, with all its loss terms; one step makes half of the features
// dead, so that they take part in the auxiliary loss.
std::vector<std::pair<std::string, CltConfig>> sparse_forms() {
  const CltConfig base{.layers = 3,
                       .width = 5,
                       .features = 12,
                       .batch = 6,
                       .k = 2,
                       .sparse = true,
                       .preactivation = 0.3,
                       .auxiliary_k = 4,
                       .auxiliary = 0.5,
                       .dead_after = 2};
  std::vector<std::pair<std::string, CltConfig>> forms;
  for (const auto& [name, activation] : {std::pair{"BatchTopK", CltActivation::batch_top_k},
                                         std::pair{"TokenTopK", CltActivation::token_top_k},
                                         std::pair{"JumpReLU", CltActivation::jump_relu}}) {
    CltConfig c = base;
    c.activation = activation;
    c.threshold = 0.4;
    c.bandwidth = 1e-9;  // the threshold's own gradient is no derivative: checked elsewhere
    forms.emplace_back(name, c);
  }
  return forms;
}

template <typename T>
void set_up(Session<T>& session) {
  fill_inputs(session);
  if (session.program().find("sparsity") != kNoTensor) *session.data("sparsity") = T(0.7);
  for (size_t i = 0; i < session.size("features.idle"); ++i)
    session.index_data("features.idle")[i] = i % 2 == 0 ? 5 : 0;
}

TEST_CASE("the sparse forms' gradients agree with finite differences") {
  for (const auto& [name, c] : sparse_forms()) {
    CAPTURE(name);
    on_ranks(1, [&](Shard shard, Device& device, Group* group) {
      auto program = build_clt(c, shard);
      REQUIRE(program.ok());
      Session<double> session(std::move(*program), device, group, kSeed);
      auto loss = [&] {
        set_up(session);
        session.forward();
        device.synchronize();
        // The residual that dead features decode is a constant in the loss: their part is checked
        // on their own parameters, which the residual does not depend on.
        return std::array{session.data("loss")[0] - session.data("loss.parts")[1],
                          session.data("loss.parts")[1]};
      };
      const auto before = loss();
      CHECK(before[0] > 0);
      CHECK(before[1] > 0);
      CHECK((session.data("loss.parts")[2] > 0) == (name != "BatchTopK"));
      CHECK(session.data("loss.parts")[3] > 0);
      session.backward();
      device.synchronize();
      const std::vector<int32_t> idle(
          session.index_data("features.idle"),
          session.index_data("features.idle") + session.size("features.idle"));
      CHECK(std::ranges::count_if(idle, [](int32_t n) { return n > 2; }) > 3);
      auto is_dead = [&](const std::string& parameter, size_t i) {
        if (parameter.starts_with("decoder.bias")) return false;
        const size_t layer = static_cast<size_t>(parameter[8] - '0');
        const size_t feature =
            parameter.starts_with("encoder") ? i % c.features : i / ((c.layers - layer) * c.width);
        return idle[layer * c.features + feature] > 2;
      };
      for (const TensorId id : session.program().parameters()) {
        const TensorInfo& info = session.program().tensor(id);
        if (info.name == "threshold") continue;
        CAPTURE(info.name);
        const std::vector<double> gradient(session.data(info.gradient),
                                           session.data(info.gradient) + info.size());
        for (size_t i = 0; i < info.size(); ++i) {
          double& value = session.data(id)[i];
          const auto [above, below] = above_and_below(value, 1e-6, loss);
          const double rest = (above[0] - below[0]) / 2e-6, part = (above[1] - below[1]) / 2e-6;
          const double want = is_dead(info.name, i) ? rest + part : rest;
          CHECK(gradient[i] == doctest::Approx(want).epsilon(1e-5).scale(1e-3));
        }
      }
    });
  }
}

TEST_CASE("a threshold's gradient counts what lies in the band around it") {
  const CltConfig c{.layers = 1,
                    .width = 3,
                    .features = 4,
                    .batch = 5,
                    .sparse = true,
                    .activation = CltActivation::jump_relu,
                    .auxiliary_k = 0,
                    .threshold = 0.1,
                    .bandwidth = 0.6};
  on_ranks(1, [&](Shard shard, Device& device, Group* group) {
    auto program = build_clt(c, shard);
    REQUIRE(program.ok());
    Session<double> session(std::move(*program), device, group, kSeed);
    fill_inputs(session);
    *session.data("sparsity") = 0;
    session.run("encode");
    device.synchronize();
    const std::vector<double> pre(session.data("pre"), session.data("pre") + 20);
    session.forward();
    session.backward();
    device.synchronize();
    int within = 0;
    for (size_t f = 0; f < 4; ++f) {
      double want = 0;
      for (size_t row = 0; row < 5; ++row) {
        const double x = pre[row * 4 + f];
        if (std::abs(x - 0.1) >= 0.3) continue;
        ++within;
        double value_gradient = 0;
        for (size_t j = 0; j < 3; ++j)
          value_gradient +=
              session.data("outputs.gradient")[row * 3 + j] * session.data("decoder.0")[f * 3 + j];
        want -= value_gradient * x / 0.6;
      }
      CHECK(session.data("threshold.gradient")[f] == doctest::Approx(want));
    }
    CHECK(within > 3);
  });
}

TEST_CASE("the sparse decoder computes what the dense one does") {
  CltConfig c{.layers = 3, .width = 20, .features = 48, .batch = 33, .k = 4, .preactivation = 0};
  auto train = [&](bool sparse, int team) {
    std::vector<float> losses;
    c.sparse = sparse;
    Device device({.team = team});
    auto program = build_clt(c, {});
    REQUIRE(program.ok());
    Session<float> session(std::move(*program), device, nullptr, kSeed);
    fill_inputs(session);
    for (int step = 0; step < 10; ++step) {
      session.forward();
      session.backward();
      session.optimizer_step({.rate = 3e-3, .decay = 0});
      device.synchronize();
      losses.push_back(*session.data("loss"));
    }
    return losses;
  };
  const auto dense = train(false, 1), sparse = train(true, 1), team = train(true, 3);
  for (size_t i = 0; i < dense.size(); ++i)
    CHECK(sparse[i] == doctest::Approx(dense[i]).epsilon(1e-5));
  CHECK(team == sparse);  // bit by bit: each sum has one owner
}

TEST_CASE("the sparse forms' losses fall, and are the same for every number of ranks") {
  for (auto [name, c] : sparse_forms()) {
    CAPTURE(name);
    c.width = 8, c.features = 64, c.batch = 32, c.k = 8, c.preactivation = 3e-6;
    c.bandwidth = 0.5, c.threshold = 0.03;
    std::vector<float> reconstruction;
    auto train = [&](int ranks) {
      std::vector<float> losses;
      on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
        auto program = build_clt(c, shard);
        REQUIRE(program.ok());
        Session<float> session(std::move(*program), device, group, kSeed);
        fill_inputs(session);
        if (session.program().find("sparsity") != kNoTensor) *session.data("sparsity") = 1e-3F;
        for (int step = 0; step < 30; ++step) {
          session.forward();
          session.backward();
          session.optimizer_step({.rate = 3e-3, .decay = 0});
          device.synchronize();
          if (shard.rank != 0) continue;
          losses.push_back(*session.data("loss"));
          if (ranks == 1) reconstruction.push_back(*session.data("loss.parts"));
        }
      });
      return losses;
    };
    const auto one = train(1), two = train(2), four = train(4);
    CHECK(reconstruction.back() < 0.8F * reconstruction.front());
    for (size_t i = 0; i < one.size(); ++i) {
      CHECK(two[i] == doctest::Approx(one[i]).epsilon(1e-5));
      CHECK(four[i] == doctest::Approx(one[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("CLT's losses fall, and are the same for every number of ranks") {
  const CltConfig c{.layers = 2, .width = 8, .features = 64, .batch = 32, .k = 8};
  auto train = [&](int ranks) {
    std::vector<float> losses;
    on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
      auto program = build_clt(c, shard);
      REQUIRE(program.ok());
      Session<float> session(std::move(*program), device, group, kSeed);
      fill_inputs(session);
      for (int step = 0; step < 30; ++step) {
        session.forward();
        session.backward();
        session.optimizer_step({.rate = 3e-3, .decay = 0});
        device.synchronize();
        if (shard.rank == 0) losses.push_back(*session.data("loss"));
      }
    });
    return losses;
  };
  const auto one = train(1), two = train(2);
  CHECK(one.back() < 0.7F * one.front());
  for (size_t i = 0; i < one.size(); ++i) CHECK(two[i] == doctest::Approx(one[i]).epsilon(1e-5));
}

TEST_CASE("CLT refuses shapes that make no sense") {
  CHECK_FALSE(build_clt({.features = 9}, {.rank = 0, .size = 2}).ok());
  CHECK_FALSE(build_clt({.k = 0}, {}).ok());
  const CltConfig small{.layers = 2, .features = 8, .k = 16};
  CHECK(build_clt(small, {}).ok());
  auto more = small;
  more.k = 17;
  CHECK(build_clt(more, {}).error().message ==
        "k (17) must be at most layers * features (16): a token has no more");
  more.activation = CltActivation::jump_relu;  // keeps what is above its thresholds
  more.sparse = true;
  CHECK(build_clt(more, {}).ok());
}

}  // namespace
}  // namespace stallscope::trainer
