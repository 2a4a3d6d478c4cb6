// What a function's callers hand in, through modules, mappings, elements and defaults.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

using Files = std::vector<SourceInput>;

/// Casts of tensors in a step or a forward pass.
RuleSet casts() {
  SourceClause clause;
  clause.calls = {"int", "float"};
  clause.on = "device-tensor";
  clause.certainty = "likely";
  clause.contexts = {"step", "forward"};
  return clause_rule(std::move(clause), {"python"});
}

/// A module of another file, whose forward pass does `body`, and a program that hands it what it
/// has: `lengths` as `given`.
Files trained_with(const std::string& body, const std::string& given) {
  return {{"model.py", "",
           "import torch\n"
           "class Encoder(torch.nn.Module):\n"
           "    def forward(self, x, lengths=None):\n" +
               body +
               "        return x\n"
               "class Net(torch.nn.Module):\n"
               "    def __init__(self):\n"
               "        super().__init__()\n"
               "        self.encoder = Encoder()\n"
               "    def forward(self, x, lengths):\n"
               "        return self.encoder(x, lengths=lengths)\n"},
          {"train.py", "",
           "import torch\n"
           "from model import Net\n"
           "def train(data, device):\n"
           "    model = Net().to(device)\n"
           "    optimizer = torch.optim.Adam(model.parameters())\n"
           "    for x, lengths in data:\n"
           "        loss = model(x.to(device), " +
               given +
               ").mean()\n"
               "        loss.backward()\n"
               "        optimizer.step()\n"}};
}

}  // namespace

TEST_CASE("what a program hands to a module is followed into the forward passes of its parts") {
  const std::string element = "        n = int(lengths[0])\n";
  CHECK(places(casts(), trained_with(element, "lengths.to(device)")) == "model.py:4");
  CHECK(places(casts(), trained_with(element, "lengths.tolist()")).empty());
  CHECK(places(casts(), trained_with(element, "x.shape")).empty());
}

TEST_CASE("a default for None leaves a parameter what callers hand in") {
  const std::string body =
      "        if lengths is None:\n"
      "            lengths = x.shape[0]\n"
      "        n = int(lengths)\n";
  CHECK(places(casts(), trained_with(body, "lengths.to(device).max()")) == "model.py:6");
  CHECK(places(casts(), trained_with(body, "3")).empty());
}

TEST_CASE("an alternative sees what a variable held before the branches in front of it") {
  const std::string body =
      "        if isinstance(lengths, dict):\n"
      "            lengths = {k: v for k, v in lengths.items()}\n"
      "        elif isinstance(lengths, torch.Tensor):\n"
      "            n = int(lengths)\n";
  CHECK(places(casts(), trained_with(body, "lengths.to(device)")) == "model.py:7");
}

TEST_CASE("a call that gives names is none of a method that has no such arguments") {
  const auto read = [](const std::string& call) {
    return places(reads_of("float", "jax-array", "in-jit"),
                  {{"memory.py", "",
                    "import jax.numpy as jnp\n"
                    "class Memory:\n"
                    "    def draw(self, size):\n"
                    "        return float(jnp.sum(self.rows))\n"},
                   {"train.py", "",
                    "import jax\n"
                    "import optax\n"
                    "@jax.jit\n"
                    "def update(params, policy, memory):\n"
                    "    x = policy." +
                        call +
                        "\n"
                        "    loss, grads = jax.value_and_grad(loss_fn)(params, x)\n"
                        "    return optax.apply_updates(params, grads)\n"
                        "def train(params, policy, memory, steps):\n"
                        "    for _ in range(steps):\n"
                        "        y = memory.draw(size=3)\n"
                        "        params = update(params, policy, y)\n"}});
  };
  CHECK(read("draw(size=3)").empty());  // compiled as well, as far as anybody knows
  CHECK(read("draw(temperature=3)") == "memory.py:4");
}
