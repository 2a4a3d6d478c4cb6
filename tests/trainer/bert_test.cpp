#include <doctest/doctest.h>

#include <cmath>

#include "differences.h"
#include "ranks.h"
#include "trainer/models/bert.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr BertConfig kSmall{.layers = 2,
                            .hidden = 16,
                            .heads = 4,
                            .vocabulary = 24,
                            .sequence = 6,
                            .batch = 2,
                            .masked = 3};

template <typename T>
void fill_inputs(Session<T>& session, const BertConfig& c) {
  for (size_t i = 0; i < c.batch * c.sequence; ++i) {
    session.index_data("tokens")[i] = static_cast<int32_t>(random_bits(1, i) % c.vocabulary);
    session.index_data("labels")[i] =
        i % 4 == 1 ? static_cast<int32_t>(random_bits(2, i) % c.vocabulary) : -1;
  }
}

TEST_CASE("BERT's gradients agree with finite differences") {
  on_ranks(1, [](Shard shard, Device& device, Group* group) {
    auto program = build_bert(kSmall, shard);
    REQUIRE(program.ok());
    Session<double> session(std::move(*program), device, group, 3);
    fill_inputs(session, kSmall);
    auto loss = [&] {
      session.forward();
      device.synchronize();
      return *session.data("loss");
    };
    loss();
    session.backward();
    device.synchronize();
    for (const TensorId id : session.program().parameters()) {
      const TensorInfo& info = session.program().tensor(id);
      const std::vector<double> gradient(session.data(info.gradient),
                                         session.data(info.gradient) + info.size());
      double& value = session.data(id)[info.size() / 2];
      const auto [above, below] = above_and_below(value, 1e-5, loss);
      CAPTURE(info.name);
      CHECK(gradient[info.size() / 2] ==
            doctest::Approx((above - below) / 2e-5).epsilon(1e-5).scale(0.1));
    }
  });
}

TEST_CASE("BERT's losses fall, and are the same on two ranks") {
  auto train = [](int ranks) {
    std::vector<float> losses;
    on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
      auto program = build_bert(kSmall, shard);
      REQUIRE(program.ok());
      Session<float> session(std::move(*program), device, group, 3);
      fill_inputs(session, kSmall);
      for (int step = 0; step < 20; ++step) {
        session.forward();
        session.backward();
        session.optimizer_step({});
        device.synchronize();
        if (shard.rank == 0) losses.push_back(*session.data("loss"));
      }
    });
    return losses;
  };
  const auto one = train(1), two = train(2);
  CHECK(one.back() < 0.9F * one.front());
  for (size_t i = 0; i < one.size(); ++i) CHECK(two[i] == doctest::Approx(one[i]).epsilon(1e-5));
}

}  // namespace
}  // namespace stallscope::trainer
