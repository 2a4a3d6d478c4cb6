#include "analyze/host_costs.h"

#include <doctest/doctest.h>

#include <string>

using namespace stallscope;

TEST_CASE("frames tell known costs") {
  constexpr const char* kSite = "/venv/lib/python3.11/site-packages/";
  struct Case {
    const char* file;
    const char* function;
    int cost;  // -1 = none
  };
  const auto cost = [](HostCost c) { return static_cast<int>(c); };
  const Case cases[] = {
      {"jax/_src/tree_util.py", "tree_flatten", cost(HostCost::pytree)},
      {"jax/_src/compiler.py", "backend_compile", cost(HostCost::compilation)},
      {"jax/_src/pjit.py", "cache_miss", -1},
      {"torch/_dynamo/convert_frame.py", "ConvertFrame.__call__", cost(HostCost::compilation)},
      {"torch/serialization.py", "save", cost(HostCost::checkpoint)},
      {"torch/utils/data/_utils/collate.py", "default_collate", cost(HostCost::collation)},
      {"torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__",
       cost(HostCost::loader_wait)},
      {"torch/utils/data/dataloader.py", "__init__", -1},
      {"torch/nn/modules/linear.py", "forward", -1},
  };
  for (const Case& each : cases) {
    CAPTURE(each.file);
    const uint32_t expected = each.cost < 0 ? 0U : 1U << each.cost;
    CHECK(host_costs_of(std::string(kSite) + each.file, each.function) == expected);
  }
  // tree_at is of the file of trees, and is the dearer name.
  const uint32_t tree_at = host_costs_of("equinox/_tree.py", "tree_at");
  CHECK((tree_at & 1U << cost(HostCost::tree_at)) != 0);
  CHECK(cost(HostCost::tree_at) < cost(HostCost::pytree));
  CHECK(host_costs_of("train.py", "Batch.collate_fn") == 1U << cost(HostCost::collation));
  CHECK(host_costs_of("train.py", "forward") == 0);
  for (int i = 0; i < kHostCosts; ++i) CHECK_FALSE(to_string(static_cast<HostCost>(i)).empty());
}
