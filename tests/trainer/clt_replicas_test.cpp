// Transcoders whose batch is split over replicas: the selection is that of the whole batch.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ranks.h"
#include "trainer/models/clt.h"
#include "trainer/ops/sparse_list.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kBatch = 32, kSteps = 10;

CltConfig config_of(CltActivation activation, bool sparse) {
  return {.layers = 2,
          .width = 8,
          .features = 64,
          .batch = kBatch,
          .k = 4,
          .sparse = sparse,
          .activation = activation,
          .auxiliary_k = 4,
          .dead_after = 2,
          .bandwidth = 0.5};
}

// What is kept in the first step, [layers, batch, features] of the whole batch, and the losses.
struct Training {
  std::vector<char> kept;
  std::vector<float> losses;
};

Training train(CltConfig c, int tensor, int replicas) {
  Training result;
  result.kept.resize(c.layers * kBatch * c.features);
  c.batch = kBatch / static_cast<size_t>(replicas);
  on_grid(tensor, replicas, [&](Shard shard, Device& device, Group& group, Group& data) {
    auto program = build_clt(c, shard);
    REQUIRE(program.ok());
    if (replicas > 1) reduce_gradients(*program, 1000);
    Session<float> session(std::move(*program), device, &group, 5, nullptr, &data);
    const size_t local = c.features / static_cast<size_t>(tensor);
    const size_t token = static_cast<size_t>(shard.replica) * c.batch;
    // Row `row` of this replica's [layers, batch] among all replicas' rows.
    auto whole_row = [&](size_t row) { return row / c.batch * kBatch + token + row % c.batch; };
    for (const char* name : {"inputs", "targets"})
      for (size_t i = 0; i < session.size(name); ++i)
        session.data(name)[i] = static_cast<float>(
            2 * random_uniform(name[0], whole_row(i / c.width) * c.width + i % c.width) - 1);
    if (session.program().find("sparsity") != kNoTensor) *session.data("sparsity") = 1e-3F;
    for (size_t step = 0; step < kSteps; ++step) {
      session.forward();
      device.synchronize();
      auto keep = [&](size_t row, size_t feature) {
        const size_t whole = static_cast<size_t>(shard.rank) * local + feature;
        if (step == 0) result.kept[whole_row(row) * c.features + whole] = 1;
      };
      if (c.sparse) {
        const SparseList<float> list({c.layers, c.batch, local, session.size("list.values")},
                                     session.index_data("list.numbers"),
                                     session.data("list.values"));
        for (size_t row = 0; row < c.layers * c.batch; ++row)
          for (int32_t e = list.row_start[row]; e < list.row_start[row + 1]; ++e)
            keep(row, static_cast<size_t>(list.feature[e]));
      } else {
        for (size_t i = 0; i < session.size("mask"); ++i)
          if (session.data("mask")[i] != 0) keep(i / local, i % local);
      }
      session.backward();
      session.optimizer_step({.rate = 3e-3, .decay = 0});
      device.synchronize();
      if (shard.rank == 0 && shard.replica == 0) result.losses.push_back(*session.data("loss"));
    }
  });
  return result;
}

TEST_CASE("replicas of a transcoder select and learn what one does with the whole batch") {
  for (const auto& [activation, sparse] :
       {std::pair{CltActivation::batch_top_k, true}, std::pair{CltActivation::batch_top_k, false},
        std::pair{CltActivation::token_top_k, true}, std::pair{CltActivation::jump_relu, true}}) {
    CAPTURE(static_cast<int>(activation));
    CAPTURE(sparse);
    const CltConfig c = config_of(activation, sparse);
    const Training one = train(c, 1, 1);
    CHECK(one.losses.back() < 0.95F * one.losses.front());
    if (activation != CltActivation::jump_relu)
      CHECK(std::ranges::count(one.kept, 1) == static_cast<int64_t>(c.k * kBatch));
    for (const auto& [tensor, replicas] : {std::pair{1, 2}, std::pair{2, 2}, std::pair{1, 4}}) {
      CAPTURE(tensor);
      CAPTURE(replicas);
      const Training grid = train(c, tensor, replicas);
      CHECK(grid.kept == one.kept);
      for (size_t i = 0; i < kSteps; ++i)
        CHECK(grid.losses[i] == doctest::Approx(one.losses[i]).epsilon(1e-5));
      CHECK(train(c, tensor, replicas).losses == grid.losses);  // deterministic for a layout
    }
  }
}

}  // namespace
}  // namespace stallscope::trainer
