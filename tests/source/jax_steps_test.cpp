// Which place is a step of JAX, Equinox and Flax programs, and what a step there gives.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// Calls of jax.device_get in a step.
RuleSet copies_in_step() {
  SourceClause clause;
  clause.calls = {"jax.device_get"};
  clause.contexts = {"step"};
  return clause_rule(std::move(clause));
}

/// A function that makes a gradient function by `made`, copies before, in and behind its loop.
std::vector<SourceInput> loop_after(const std::string& made) {
  return {{"train.py", "",
           "import jax\n"
           "def train(params, stream, loss):\n"
           "    start = jax.device_get(params)\n"
           "    " +
               made +
               "\n"
               "    for batch in stream:\n"
               "        value, grads = step(params, batch)\n"
               "        seen = jax.device_get(value)\n"
               "    return jax.device_get(params)\n"}};
}

/// A loop over a step of another file, which gives `given` and is decorated by `decorator`.
std::vector<SourceInput> logs_of(const std::string& decorator, const std::string& given) {
  return {{"steps.py", "",
           "import jax\nimport equinox as eqx\nfrom flax import nnx\n" + decorator +
               "\ndef train_step(state, batch):\n"
               "    grads = jax.grad(lambda p: (p * batch).sum())(state)\n"
               "    return " +
               given + "\n"},
          {"train.py", "",
           "import jax\nfrom steps import train_step\n"
           "def main(batches, state):\n"
           "    for batch in batches:\n"
           "        state, metrics = train_step(state, batch)\n"
           "        print(float(metrics['loss']))\n"}};
}

/// A loop that reads what `made`, an object named vg, gives.
std::vector<SourceInput> loss_of(const std::string& made) {
  return {{"train.py", "",
           "import equinox as eqx\nfrom flax import nnx\nimport haiku as hk\n"
           "def train(model, optim, state, stream, loss):\n" +
               made +
               "    for x in stream:\n"
               "        l, g = vg(model, x)\n"
               "        updates, state = optim.update(g, state)\n"
               "        model = eqx.apply_updates(model, updates)\n"
               "        y = float(l)\n"}};
}

}  // namespace

TEST_CASE("what only builds a gradient function is no step: the loop that calls it is") {
  const RuleSet rules = copies_in_step();
  for (const char* made :
       {"step = jax.value_and_grad(loss)", "step = jax.jit(jax.value_and_grad(loss))",
        "step = jax.jit(lambda p, b: jax.value_and_grad(loss)(p, b))",
        "grad_fn = jax.value_and_grad(loss); step = jax.jit(lambda p, b: grad_fn(p, b))"})
    CHECK_MESSAGE(places(rules, loop_after(made)) == "train.py:7", made);
  // what scan() is handed runs where it stands
  const std::string scans =
      "import jax\n"
      "def update(params, batches):\n"
      "    gradient = jax.grad(loss)\n"
      "    def one(p, batch):\n"
      "        return p - gradient(p, batch), 0\n"
      "    params, _ = jax.lax.scan(one, params, batches)\n"
      "    return jax.device_get(params)\n"
      "def main(params, data):\n"
      "    for batches in data:\n"
      "        params = update(params, batches)\n";
  CHECK(places(rules, {{"train.py", "", scans}}) == "train.py:7");
}

TEST_CASE("the metrics that a compiled step of another file gives are arrays") {
  const RuleSet rules = reads_of("float", "jax-array", "in-jit");
  for (const char* decorator : {"@jax.jit", "@eqx.filter_jit", "@nnx.jit"}) {
    CHECK_MESSAGE(
        places(rules, logs_of(decorator, "state - grads, {'loss': grads.sum()}")) == "train.py:6",
        decorator);
  }
  CHECK(places(rules, logs_of("", "state - grads, {'loss': 0.5}")).empty());
}

TEST_CASE("gradient functions of JAX's libraries give arrays") {
  const RuleSet rules = reads_of("float", "jax-array", "in-jit");
  for (const char* made :
       {"    vg = eqx.filter_value_and_grad(loss)\n",
        "    vg = eqx.filter_jit(eqx.filter_value_and_grad(loss))\n",
        "    vg = nnx.value_and_grad(loss)\n", "    vg = hk.value_and_grad(loss)\n",
        "    @eqx.filter_value_and_grad\n    def vg(m, x):\n        return loss(m, x)\n",
        "    @eqx.filter_jit\n    @eqx.filter_value_and_grad\n"
        "    def vg(m, x):\n        return loss(m, x)\n"})
    CHECK_MESSAGE(!places(rules, loss_of(made)).empty(), made);
  CHECK(places(rules, loss_of("    vg = read_table(loss)\n")).empty());
}

TEST_CASE("of a function that is compiled, a method of its name is not") {
  SourceClause clause;
  clause.calls = {"jax.device_get"};
  clause.contexts = {"step"};
  clause.unless = {"in-jit"};
  const auto found = [&](const std::string& method) {
    return places(clause_rule(clause),
                  {{"agent.py", "",
                    "import jax\n"
                    "def update(state, batch):\n"
                    "    grads = jax.grad(lambda p: (p * batch).sum())(state.params)\n"
                    "    return state.apply_gradients(grads=grads), grads\n"
                    "_update_jit = jax.jit(update)\n"
                    "class Agent:\n"
                    "    def " +
                        method +
                        "(self, batch):\n"
                        "        self.state, info = _update_jit(self.state, batch)\n"
                        "        return jax.device_get(info)\n"},
                   {"train.py", "",
                    "from agent import Agent\n"
                    "def train(state, data):\n"
                    "    agent = Agent(state)\n"
                    "    for batch in data:\n"
                    "        agent." +
                        method + "(batch)\n"}});
  };
  CHECK(found("update") == "agent.py:9");
  CHECK(found("learn") == "agent.py:9");
  // Gradients that are only looked at.
  CHECK(found("eval").empty());
}

TEST_CASE("JAX works on the last step while the next batch is fetched") {
  SourceClause clause;
  clause.calls = {"next"};
  clause.contexts = {"step"};
  clause.lower = {"asynchronous"};
  const RuleSet rules = clause_rule(std::move(clause));
  const auto lowered = [&](const std::string& head) {
    const SourceIndex index = SourceIndex::build(
        std::vector<SourceInput>{{"train.py", "",
                                  head + "def train(state, batches, train_step):\n"
                                         "    for _ in range(100):\n"
                                         "        batch = next(batches)\n"
                                         "        loss = train_step(state, batch)\n"
                                         "        loss.backward()\n"}},
        rules, {});
    const std::vector<SourceFact> facts = index.facts();
    return facts.size() == 1 ? static_cast<int>(facts[0].lowered) : -1;
  };
  CHECK(lowered("import torch\n") == 0);
  CHECK(lowered("import jax\n") == 2);
  CHECK(lowered("import jax, torch\n") == 0);
}
