#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "differences.h"
#include "ranks.h"
#include "trainer/models/clt.h"
#include "trainer/ops/sparse_list.h"
#include "trainer/ops/top_k.h"
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

TEST_CASE("keys order as values do") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {-infinity, -3.5F, -1e-30F, 0.0F, 1e-30F, 2.0F, 1e30F, infinity};
  for (size_t i = 1; i < std::size(values); ++i)
    CHECK(order_key(values[i - 1]) < order_key(values[i]));
  CHECK(order_key(-0.0F) == order_key(0.0F));
  CHECK(order_key(std::nanf("")) < order_key(-infinity));
}

// The order of ties: (feature, layer, token).
std::tuple<size_t, size_t, size_t> place_of(size_t i, const CltConfig& c) {
  return {i % c.features, i / (c.features * c.batch), i / c.features % c.batch};
}

std::vector<float> scores(const std::vector<float>& pre, const CltConfig& c) {
  std::vector<float> mean(c.layers * c.features), scale(mean.size()), result(pre.size());
  top_k_statistics(TopK<float>{.layers = c.layers,
                               .batch = c.batch,
                               .features = c.features,
                               .pre = pre.data(),
                               .mean = mean.data(),
                               .scale = scale.data(),
                               .state = nullptr,
                               .counts = nullptr});
  for (size_t i = 0; i < pre.size(); ++i) {
    const size_t s = i / (c.features * c.batch) * c.features + i % c.features;
    result[i] = (pre[i] - mean[s]) * scale[s];
  }
  return result;
}

TEST_CASE("statistics of features are the mean and the unbiased deviation") {
  const CltConfig c{.layers = 2, .features = 300, .batch = 77};
  std::vector<float> pre(c.layers * c.batch * c.features), mean(c.layers * c.features),
      scale(mean.size());
  for (size_t i = 0; i < pre.size(); ++i)
    pre[i] = static_cast<float>(1000 + 3 * random_uniform(4, i) + (i < 9 ? 1e4 : 0));
  for (const int team : {1, 3})
    top_k_statistics(TopK<float>{.layers = c.layers,
                                 .batch = c.batch,
                                 .features = c.features,
                                 .pre = pre.data(),
                                 .mean = mean.data(),
                                 .scale = scale.data(),
                                 .state = nullptr,
                                 .counts = nullptr,
                                 .team = team});
  for (size_t s = 0; s < mean.size(); ++s) {
    double sum = 0, squares = 0;
    auto value = [&](size_t row) {
      return static_cast<double>(
          pre[(s / c.features * c.batch + row) * c.features + s % c.features]);
    };
    for (size_t row = 0; row < c.batch; ++row) sum += value(row);
    for (size_t row = 0; row < c.batch; ++row)
      squares += std::pow(value(row) - sum / static_cast<double>(c.batch), 2);
    CHECK(mean[s] == doctest::Approx(sum / static_cast<double>(c.batch)).epsilon(1e-6));
    CHECK(1 / scale[s] ==
          doctest::Approx(std::sqrt(squares / static_cast<double>(c.batch - 1))).epsilon(1e-4));
  }
}

// The definition, by a full sort of z-scores.
std::vector<char> sorted_mask(const std::vector<float>& pre, const CltConfig& c) {
  const std::vector<float> score = scores(pre, c);
  std::vector<size_t> order(pre.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const uint32_t x = order_key(score[a]), y = order_key(score[b]);
    return x != y ? x > y : place_of(a, c) < place_of(b, c);
  });
  std::vector<char> mask(pre.size());
  for (size_t i = 0; i < std::min(c.k * c.batch, pre.size()); ++i) mask[order[i]] = 1;
  return mask;
}

// Selection over `ranks` ranks of the given pre-activations, put together again: 1 where kept.
std::vector<char> selected(const std::vector<float>& pre, const CltConfig& c, int ranks) {
  std::vector<char> whole(pre.size());
  on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
    auto program = build_clt(c, shard);
    REQUIRE(program.ok());
    Session<float> session(std::move(*program), device, group, kSeed);
    const size_t local = c.features / static_cast<size_t>(ranks);
    const size_t first = static_cast<size_t>(shard.rank) * local;
    for (size_t row = 0; row < c.layers * c.batch; ++row)
      for (size_t f = 0; f < local; ++f)
        session.data("pre")[row * local + f] = pre[row * c.features + first + f];
    session.run("select");
    device.synchronize();
    if (!c.sparse) {
      for (size_t row = 0; row < c.layers * c.batch; ++row)
        for (size_t f = 0; f < local; ++f)
          whole[row * c.features + first + f] = session.data("mask")[row * local + f] != 0;
      return;
    }
    const SparseList<float> list({c.layers, c.batch, local, session.size("list.values")},
                                 session.index_data("list.numbers"), session.data("list.values"));
    for (size_t row = 0; row < c.layers * c.batch; ++row) {
      for (int32_t e = list.row_start[row]; e < list.row_start[row + 1]; ++e) {
        const size_t place = row * c.features + first + static_cast<size_t>(list.feature[e]);
        CHECK(std::bit_cast<uint32_t>(list.value[e]) == std::bit_cast<uint32_t>(pre[place]));
        whole[place] = 1;
      }
    }
    // The reverse index holds every entry once, by feature, rows ascending.
    std::vector<int> seen(list.size());
    for (size_t column = 0; column < c.layers * local; ++column) {
      for (int32_t j = list.column_start[column]; j < list.column_start[column + 1]; ++j) {
        const int32_t e = list.entry[j];
        ++seen[static_cast<size_t>(e)];
        CHECK(static_cast<size_t>(list.feature[e]) == column % local);
        const size_t row = column / local * c.batch + static_cast<size_t>(list.row[e]);
        CHECK((list.row_start[row] <= e && e < list.row_start[row + 1]));
        if (j > list.column_start[column]) CHECK(list.entry[j - 1] < e);
      }
    }
    CHECK(std::ranges::all_of(seen, [](int count) { return count == 1; }));
  });
  return whole;
}

// Pre-activations of many kinds: what a selection must get right.
std::map<std::string, std::vector<float>> kinds_of_values(size_t count) {
  std::map<std::string, std::vector<float>> kinds;
  for (const char* name : {"random", "few", "equal", "not finite", "all NaN"})
    kinds[name].resize(count);
  for (size_t i = 0; i < count; ++i) {
    kinds["random"][i] = static_cast<float>(random_uniform(9, i));
    kinds["few"][i] = static_cast<float>(random_bits(9, i) % 3);  // many ties
    kinds["not finite"][i] = static_cast<float>(random_uniform(10, i));
    kinds["all NaN"][i] = std::nanf("");
  }
  kinds["not finite"][7] = std::numeric_limits<float>::infinity();
  kinds["not finite"][20] = -std::numeric_limits<float>::infinity();
  kinds["not finite"][31] = std::nanf("");
  return kinds;
}

TEST_CASE("the selection is exactly that of a full sort, for any number of ranks") {
  CltConfig c{.layers = 2, .width = 4, .features = 24, .batch = 10, .k = 3};
  for (const auto& [name, pre] : kinds_of_values(c.layers * c.batch * c.features)) {
    CAPTURE(name);
    const std::vector<char> want = sorted_mask(pre, c);
    CHECK(std::accumulate(want.begin(), want.end(), 0) == 30);
    for (const bool sparse : {false, true}) {
      c.sparse = sparse;
      for (const int ranks : {1, 2, 4}) CHECK(selected(pre, c, ranks) == want);
    }
  }
}

TEST_CASE("a sampled selection is exactly that of a full sort") {
  // Large enough that only a part is sampled; one row holds most of what is kept.
  CltConfig c{.layers = 2, .width = 4, .features = 8192, .batch = 48, .k = 20, .sparse = true};
  std::vector<float> even(c.layers * c.batch * c.features), one_row(even.size());
  for (size_t i = 0; i < even.size(); ++i) {
    even[i] = static_cast<float>(random_uniform(9, i) + random_uniform(11, i));
    one_row[i] = i / c.features == 5 ? 50 + even[i] : even[i];
  }
  for (const auto& pre : {even, one_row}) {
    const std::vector<char> want = sorted_mask(pre, c);
    for (const int ranks : {1, 2}) CHECK(selected(pre, c, ranks) == want);
  }
}

TEST_CASE("TokenTopK keeps the largest of each token, for any number of ranks") {
  const CltConfig c{.layers = 2,
                    .width = 4,
                    .features = 24,
                    .batch = 10,
                    .k = 3,
                    .sparse = true,
                    .activation = CltActivation::token_top_k};
  for (const auto& [name, pre] : kinds_of_values(c.layers * c.batch * c.features)) {
    CAPTURE(name);
    std::vector<char> want(pre.size());
    const std::vector<float> score = scores(pre, c);
    for (size_t token = 0; token < c.batch; ++token) {
      std::vector<size_t> order;
      for (size_t layer = 0; layer < c.layers; ++layer)
        for (size_t f = 0; f < c.features; ++f)
          order.push_back((layer * c.batch + token) * c.features + f);
      std::erase_if(order, [&](size_t i) { return std::isnan(score[i]); });
      std::ranges::sort(order, [&](size_t a, size_t b) {
        return score[a] != score[b] ? score[a] > score[b] : place_of(a, c) < place_of(b, c);
      });
      for (size_t i = 0; i < std::min(c.k, order.size()); ++i) want[order[i]] = 1;
    }
    for (const int ranks : {1, 2, 4}) CHECK(selected(pre, c, ranks) == want);
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
}

}  // namespace
}  // namespace stallscope::trainer
