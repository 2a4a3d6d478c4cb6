// Programs that drive what other files compute: they import no framework themselves, or fetch and
// play around the loop that takes the steps.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// Casts of JAX's arrays in a step.
RuleSet casts() {
  SourceClause clause;
  clause.calls = {"float"};
  clause.on = "jax-array";
  clause.certainty = "likely";
  clause.contexts = {"step"};
  return clause_rule(std::move(clause), {"python"});
}

/// A program without a framework whose loop steps a trainer of another file, and then does `body`.
std::vector<SourceInput> driven(const std::string& body) {
  return {{"trainer.py", "",
           "import jax\n"
           "class Trainer:\n"
           "    def __init__(self, rate):\n"
           "        self.rate = rate\n"
           "        self.compiled = jax.jit(self.update)\n"
           "    def update(self, state, batch):\n"
           "        loss, grads = jax.value_and_grad(self.cost)(state, batch)\n"
           "        return state - self.rate * grads, loss\n"
           "    def train_step(self, state, batch):\n"
           "        return self.compiled(state, batch)\n"},
          {"train.py", "",
           "import numpy as np\n"
           "from trainer import Trainer\n"
           "def main(batches, state):\n"
           "    trainer = Trainer(0.1)\n"
           "    for batch in batches:\n"
           "        state, metrics = trainer.train_step(state, batch)\n" +
               body +
               "if __name__ == '__main__':\n"
               "    main(load(), 0)\n"}};
}

std::string reads(const std::string& code) {
  return places(item_rule({"step"}), {{"train.py", "", code}});
}

}  // namespace

TEST_CASE("a program that imports no framework reads what a step of another file gives") {
  CHECK(places(casts(), driven("        print(float(metrics))\n")) == "train.py:7");
  CHECK(places(casts(), driven("        print(float(metrics.loss))\n")) == "train.py:7");
  CHECK(places(casts(), driven("        print(float(metrics.parts.loss))\n")) == "train.py:7");
  CHECK(places(casts(), driven("        print(float(batch.size))\n")).empty());
}

TEST_CASE("a tree whose leaves were copied is on the host") {
  const std::string read = "        print(float(metrics.loss[0]))\n";
  const auto after = [&](const std::string& copy) {
    std::vector<SourceInput> files = driven("        metrics = " + copy + "\n" + read);
    files[1].bytes = "import jax\n" + files[1].bytes;
    return places(casts(), files);
  };
  CHECK(after("jax.tree.map(lambda x: x[0], metrics)") == "train.py:9");
  CHECK(after("jax.tree.map(np.asarray, metrics)").empty());
  CHECK(after("jax.tree_util.tree_map(lambda x: np.asarray(jax.device_get(x)), metrics)").empty());
}

TEST_CASE("the loop that fetches is the step, whatever runs over the parts of a model in it") {
  const auto code = [](const std::string& fetch, const std::string& head) {
    return "import torch\n"
           "def train(batches, parts, loss_of):\n"
           "    " +
           head + "\n        batch = " + fetch +
           "\n"
           "        for part, optimizer in parts:\n"
           "            loss = loss_of(part(batch))\n"
           "            loss.backward()\n"
           "            optimizer.step()\n"
           "        print(loss_of.scale.item())\n";
  };
  CHECK(reads(code("next(batches)", "while True:")) == "train.py:9");
  CHECK(reads(code("batches.first()", "while True:")).empty());
  CHECK(reads(code("next(batches)", "for epoch in range(9):")).empty());
}

TEST_CASE("passes of JAX's programs over what was played are parts of the loop around them") {
  const auto code = [](const std::string& passes) {
    return "import jax\n"
           "def train(config, params, opt_state, play):\n"
           "    for round in range(config.rounds):\n"
           "        batch = play(params)\n"
           "        for _ in range(" +
           passes +
           "):\n"
           "            params, opt_state, loss = train_step(params, opt_state, batch)\n"
           "        print(loss.item())\n"
           "if __name__ == '__main__':\n"
           "    train(read(), 0, 0, act)\n";
  };
  CHECK(reads(code("config.ppo.epochs")) == "train.py:7");
  CHECK(reads(code("config.repeats")).empty());
}

TEST_CASE("games that a program plays against itself, to learn from them, are played in steps") {
  const auto code = [](const std::string& name, const std::string& around) {
    return "import jax\n"
           "def " +
           name +
           "(params, state):\n"
           "    for _ in range(9):\n"
           "        state, reward, done = env_step(state, act(params, state))\n"
           "        print(reward.item())\n"
           "    return state\n"
           "def train_step(params, games):\n"
           "    return params - jax.grad(cost)(params, games)\n"
           "def main(params, state):\n"
           "    for episode in range(100):\n"
           "        games = " +
           name + "(params, state)\n        " + around + "\n";
  };
  CHECK(reads(code("play_game", "params = train_step(params, games)")) == "train.py:5");
  CHECK(reads(code("play_game", "print(games)")).empty());
}

TEST_CASE("an epoch that is one compiled call is no step") {
  const auto code = [](const std::string& name, const std::string& head) {
    return "import jax\n"
           "def fit(rounds, params, opt_state, data):\n"
           "    " +
           name +
           " = make(data)\n"
           "    for " +
           head +
           " in range(rounds):\n"
           "        params, opt_state, loss = " +
           name +
           "(params, opt_state, data)\n"
           "        print(loss.item())\n"
           "if __name__ == '__main__':\n"
           "    fit(10, 0, 0, read())\n";
  };
  CHECK(reads(code("train_epoch", "epoch")).empty());
  CHECK(reads(code("train_step", "epoch")) == "train.py:6");
  // One of many calls is as good as a step.
  CHECK(reads(code("train_step", "i")) == "train.py:6");
}

TEST_CASE("what a method reads behind the updates it was asked for is read between two rollouts") {
  const auto code = [](const std::string& head, const std::string& around) {
    return "import torch\n"
           "class Agent:\n"
           "    def train(self, gradient_steps):\n"
           "        for step in range(" +
           head +
           "):\n"
           "            loss = self.critic(self.buffer.sample(32)).mean()\n"
           "            loss.backward()\n"
           "            self.optimizer.step()\n"
           "        print(loss.item())\n"
           "    def learn(self, total):\n" +
           around +
           "            self.train(1)\n"
           "if __name__ == '__main__':\n"
           "    Agent().to('cuda').learn(100)\n";
  };
  const std::string loop = "        while self.steps < total:\n            self.play()\n";
  CHECK(reads(code("gradient_steps", loop)) == "train.py:8");
  CHECK(reads(code("epochs", loop)).empty());
  CHECK(reads(code("gradient_steps", "        if total > 0:\n")).empty());
}

TEST_CASE("a loop that collects episode by episode is a part of the training around it") {
  const auto code = [](const std::string& episode) {
    return "import torch\n"
           "def " +
           episode +
           "(net):\n"
           "    return net.act()\n"
           "def collect_games(net, n):\n"
           "    for i in range(n):\n"
           "        game = " +
           episode +
           "(net)\n"
           "        print(game.item())\n"
           "def train_step(net, optimizer, batch):\n"
           "    net(batch).mean().backward()\n"
           "    optimizer.step()\n"
           "def main(net, optimizer):\n"
           "    for round in range(100):\n"
           "        games = collect_games(net, 32)\n"
           "        for batch in games:\n"
           "            train_step(net, optimizer, batch)\n"
           "if __name__ == '__main__':\n"
           "    main(torch.device('cuda'), None)\n";
  };
  CHECK(reads(code("collect_episode")) == "train.py:7");
  CHECK(reads(code("look_up")).empty());
}

TEST_CASE("a loop over layers that updates them is a part of the step") {
  SourceClause clause;
  clause.calls = {"cudaMalloc"};
  clause.contexts = {"step"};
  const RuleSet rules = clause_rule(std::move(clause));
  const auto found = [&](const std::string& head) {
    return places(rules, {{"net.cu", "",
                           "__global__ void update_weights(float* w) { w[0] -= 1; }\n"
                           "void Net::backpropagate(float* x) {\n"
                           "  cudaMalloc(&d, 4);\n"
                           "  for (" +
                               head +
                               ") {\n"
                               "    update_weights<<<1, 1>>>(w[i]);\n"
                               "  }\n"
                               "}\n"
                               "int main() {\n"
                               "  Net net;\n"
                               "  for (int step = 0; step < 100; ++step) net.backpropagate(x);\n"
                               "}\n"}});
  };
  CHECK(found("int i = numLayers - 1; i >= 0; --i") == "net.cu:3");
}
