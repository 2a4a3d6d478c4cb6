// What runs because it was handed on: to a compiler, by its module and a name, in a dictionary.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

using Files = std::vector<SourceInput>;

/// Calls of `name` that are handed a JAX array in a step, outside what is compiled.
RuleSet arrays_read_by(const std::string& name) {
  return reads_of(name, "jax-array", "in-jit");
}

/// A step of another file, and a program that makes `step` of it before its loop.
Files compiled_by(const std::string& made) {
  return {{"training.py", "",
           "import jax\nimport jax.numpy as jnp\n"
           "def train_step(state, batch):\n"
           "    scale = float(jnp.mean(batch))\n"
           "    grads = jax.grad(loss)(state.params)\n"
           "    return state.apply_gradients(grads=grads)\n"},
          {"train.py", "",
           "import functools\nimport jax\nimport training\nfrom training import train_step\n"
           "def main(state, data):\n"
           "    step = " +
               made +
               "\n"
               "    for batch in data:\n"
               "        state = step(state, batch)\n"}};
}

/// A loop of compiled steps that does `body` with the loss, and a helper of another file.
Files logged_by(const std::string& body, const std::string& helper) {
  return {{"meters.py", "", "import jax\n" + helper},
          {"train.py", "",
           "import jax\nimport optax\nimport meters\n"
           "@jax.jit\n"
           "def update(params, batch):\n"
           "    loss, grads = jax.value_and_grad(loss_fn)(params, batch)\n"
           "    return optax.apply_updates(params, grads), loss\n"
           "def main(params, data):\n"
           "    for batch in data:\n"
           "        params, loss = update(params, batch)\n"
           "        " +
               body + "\n"}};
}

}  // namespace

TEST_CASE("what a transformation of JAX is handed is compiled, through imports and partial") {
  const RuleSet rules = arrays_read_by("float");
  for (const char* made : {"jax.jit(training.train_step)", "jax.jit(train_step)",
                           "jax.pmap(functools.partial(training.train_step), axis_name='b')",
                           "jax.jit(jax.vmap(train_step))"})
    CHECK_MESSAGE(places(rules, compiled_by(made)).empty(), made);
  Files twice = compiled_by("functools.partial(training.train_step)");
  CHECK(places(rules, twice) == "training.py:4");
  const size_t loop = twice[1].bytes.find("    for");
  twice[1].bytes.insert(loop, "    step = jax.pmap(step)\n");
  CHECK(places(rules, twice).empty());
}

TEST_CASE("the values of a dictionary and of what a caller hands in are of its kind") {
  const RuleSet rules = arrays_read_by("float");
  const std::string helper =
      "def log(metrics):\n"
      "    for name, value in metrics.items():\n"
      "        print(name, float(value))\n";
  CHECK(places(rules, logged_by("meters.log({'loss': loss})", helper)) == "meters.py:4");
  CHECK(places(rules, logged_by("meters.log({'batch': 3})", helper)).empty());
  CHECK(places(rules, logged_by("print({k: float(v) for k, v in {'loss': loss}.items()})", "")) ==
        "train.py:11");
}

TEST_CASE(
    "the functions of a module that getattr() or __dict__ ask for by a name are no dead code") {
  const RuleSet rules = item_rule({"step", "forward"});
  const auto found = [&](const std::string& user) {
    return places(rules, {{"losses.py", "",
                           "import torch\n"
                           "def focal(p: torch.Tensor):\n"
                           "    return p / p.sum().item()\n"},
                          {"train.py", "", "import torch\nimport losses\n" + user}});
  };
  CHECK(found("loss = getattr(losses, name)\n") == "losses.py:3");
  CHECK(found("loss = losses.__dict__[name]\n") == "losses.py:3");
  CHECK(found("loss = losses.dice\n").empty());
  CHECK(found("loss = getattr(losses, 'dice')\n").empty());
}
