#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "ranks.h"
#include "trainer/models/clt.h"
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

// The definition, by a full sort: z-scores, ties by (feature, layer, token).
std::vector<char> sorted_mask(const std::vector<float>& pre, const CltConfig& c) {
  std::vector<float> mean(c.layers * c.features), scale(mean.size());
  const TopK<float> it{.layers = c.layers,
                       .batch = c.batch,
                       .features = c.features,
                       .pre = pre.data(),
                       .mean = mean.data(),
                       .scale = scale.data(),
                       .state = nullptr,
                       .counts = nullptr,
                       .mask = nullptr};
  top_k_statistics(it);
  std::vector<size_t> order(pre.size());
  std::iota(order.begin(), order.end(), size_t{0});
  auto key = [&](size_t i) {
    const size_t feature = i % c.features, layer = i / (c.features * c.batch);
    const size_t s = layer * c.features + feature;
    return order_key((pre[i] - mean[s]) * scale[s]);
  };
  auto place = [&](size_t i) {
    return std::tuple(i % c.features, i / (c.features * c.batch), i / c.features % c.batch);
  };
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return key(a) != key(b) ? key(a) > key(b) : place(a) < place(b);
  });
  std::vector<char> mask(pre.size());
  for (size_t i = 0; i < std::min(c.k * c.batch, pre.size()); ++i) mask[order[i]] = 1;
  return mask;
}

// Selection over `ranks` ranks of the given pre-activations, put together again.
std::vector<char> selected_mask(const std::vector<float>& pre, const CltConfig& c, int ranks) {
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
    for (size_t row = 0; row < c.layers * c.batch; ++row)
      for (size_t f = 0; f < local; ++f)
        whole[row * c.features + first + f] = session.data("mask")[row * local + f] != 0;
  });
  return whole;
}

TEST_CASE("the selection is exactly that of a full sort, for any number of ranks") {
  const CltConfig c{.layers = 2, .width = 4, .features = 24, .batch = 10, .k = 3};
  std::vector<float> random(c.layers * c.batch * c.features), few(random), equal(random);
  for (size_t i = 0; i < random.size(); ++i) {
    random[i] = static_cast<float>(random_uniform(9, i));
    few[i] = static_cast<float>(random_bits(9, i) % 3);  // many ties
  }
  for (const auto& [name, pre] : std::map<std::string, std::vector<float>>{
           {"random", random}, {"few", few}, {"equal", equal}}) {
    CAPTURE(name);
    const std::vector<char> want = sorted_mask(pre, c);
    CHECK(std::accumulate(want.begin(), want.end(), 0) == 30);
    for (const int ranks : {1, 2, 4}) CHECK(selected_mask(pre, c, ranks) == want);
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
        const double original = value;
        value = original + 1e-5;
        const double above = loss();
        value = original - 1e-5;
        const double below = loss();
        value = original;
        CAPTURE(info.name);
        CHECK(gradient[i] == doctest::Approx((above - below) / 2e-5).epsilon(1e-6).scale(1e-3));
      }
    }
  });
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
