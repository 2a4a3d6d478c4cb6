// Which features a transcoder keeps: exactly those of a full sort, whatever the ranks.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "ranks.h"
#include "trainer/models/clt.h"
#include "trainer/ops/sparse_list.h"
#include "trainer/ops/top_k.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr uint64_t kSeed = 5;

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

/// Of every feature.
struct Statistics {
  std::vector<float> mean, scale;
};

Statistics statistics_of(const std::vector<float>& pre, const CltConfig& c, int team) {
  Statistics of{std::vector<float>(c.layers * c.features),
                std::vector<float>(c.layers * c.features)};
  top_k_statistics(TopK<float>{.layers = c.layers,
                               .batch = c.batch,
                               .features = c.features,
                               .pre = pre.data(),
                               .mean = of.mean.data(),
                               .scale = of.scale.data(),
                               .state = nullptr,
                               .counts = nullptr,
                               .team = team});
  return of;
}

std::vector<float> scores(const std::vector<float>& pre, const CltConfig& c) {
  const auto [mean, scale] = statistics_of(pre, c, 1);
  std::vector<float> result(pre.size());
  for (size_t i = 0; i < pre.size(); ++i) {
    const size_t s = i / (c.features * c.batch) * c.features + i % c.features;
    result[i] = (pre[i] - mean[s]) * scale[s];
  }
  return result;
}

TEST_CASE("statistics of features are the mean and the unbiased deviation") {
  const CltConfig c{.layers = 2, .features = 300, .batch = 77};
  std::vector<float> pre(c.layers * c.batch * c.features);
  for (size_t i = 0; i < pre.size(); ++i)
    pre[i] = static_cast<float>(1000 + 3 * random_uniform(4, i) + (i < 9 ? 1e4 : 0));
  for (const int team : {1, 3}) {
    CAPTURE(team);
    const Statistics of = statistics_of(pre, c, team);
    for (size_t s = 0; s < of.mean.size(); ++s) {
      double sum = 0, squares = 0;
      auto value = [&](size_t row) {
        return static_cast<double>(
            pre[(s / c.features * c.batch + row) * c.features + s % c.features]);
      };
      for (size_t row = 0; row < c.batch; ++row) sum += value(row);
      for (size_t row = 0; row < c.batch; ++row)
        squares += std::pow(value(row) - sum / static_cast<double>(c.batch), 2);
      CHECK(of.mean[s] == doctest::Approx(sum / static_cast<double>(c.batch)).epsilon(1e-6));
      CHECK(1 / of.scale[s] ==
            doctest::Approx(std::sqrt(squares / static_cast<double>(c.batch - 1))).epsilon(1e-4));
    }
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

}  // namespace
}  // namespace stallscope::trainer
