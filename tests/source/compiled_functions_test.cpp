// Functions that a compiler is handed: under which names they run, and what it mends in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// Constants of a forward pass, lowered where they are compiled.
RuleSet constants() {
  SourceClause clause;
  clause.calls = {"torch.tensor"};
  clause.contexts = {"step", "forward"};
  clause.lower = {"in-jit"};
  return clause_rule(std::move(clause), {"python"});
}

/// Whether the only constant of a module that calls shift(x) is lowered.
bool lowered(const std::string& around) {
  const std::vector<SourceInput> files = {{"net.py", "",
                                           "import torch\n"
                                           "def shift(x):\n"
                                           "    return x + torch.tensor(1.0, device=x.device)\n" +
                                               around +
                                               "class Net(torch.nn.Module):\n"
                                               "    def forward(self, x):\n"
                                               "        return shift(x)\n"}};
  const RuleSet rules = constants();
  const SourceIndex index = SourceIndex::build(files, rules, {});
  const std::vector<SourceFact> facts = index.facts();
  REQUIRE(facts.size() == 1);
  return std::ranges::find(facts.front().guards, "in-jit") != facts.front().guards.end();
}

}  // namespace

TEST_CASE("constants of a function that is compiled under its own name are lowered") {
  CHECK_FALSE(lowered(""));
  CHECK(lowered("shift = torch.compile(shift)\n"));
  // The function may still be called as it was written.
  CHECK_FALSE(lowered("fast = torch.compile(shift)\n"));
}

TEST_CASE("a function is found behind a name of a name") {
  const auto steps = [](const std::string& made) {
    return places(item_rule({"step"}), {{"train.py", "",
                                         "import functools, jax\n"
                                         "def update(params, batch, cost):\n"
                                         "    grads = jax.grad(cost)(params, batch)\n"
                                         "    return params - grads\n"
                                         "def step(params, batch, cost):\n" +
                                             made +
                                             "    params = compiled(params, batch)\n"
                                             "    print(params.item())\n"
                                             "    return params\n"}});
  };
  CHECK(steps("    compiled = jax.jit(functools.partial(update, cost=cost))\n") == "train.py:8");
  CHECK(steps("    bound = functools.partial(update, cost=cost)\n"
              "    compiled = jax.jit(bound)\n") == "train.py:9");
  // A name for itself has no end.
  CHECK(steps("    compiled = update\n    compiled = jax.jit(compiled)\n") == "train.py:9");
}
