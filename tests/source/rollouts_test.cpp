// Steps that are not written around an optimiser: what an agent collects to learn from, and
// trainers' own methods.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/in_step.h"
#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// "train.py:line" of each read in a step.
std::string reads(const std::string& code) {
  return places(item_rule({"step"}), {{"train.py", "", code}});
}

/// How many reads stand in steps that a framework calls through `entry_point`.
size_t reads_below(const EntryPoint& entry_point, const std::string& code) {
  IndexOptions options;
  options.entry_points = {entry_point};
  return SourceIndex::build({{"train.py", "", code}}, item_rule({"step"}), options).facts().size();
}

/// A trainer whose rounds call `collect` and what learns from it.
std::string trainer(const std::string& collect, const std::string& learn) {
  return "import torch\n"
         "class Trainer:\n"
         "    def run(self):\n"
         "        for update in range(self.updates):\n"
         "            self." +
         collect +
         "()\n"
         "            " +
         learn +
         "\n"
         "    def " +
         collect +
         "(self):\n"
         "        for t in range(self.horizon):\n"
         "            with torch.no_grad():\n"
         "                value = self.model(self.state)\n"
         "            self.values[t] = value.item()\n"
         "    def learn(self):\n"
         "        for batch in self.buffer.batches():\n"
         "            loss = self.model(batch).mean()\n"
         "            loss.backward()\n"
         "            self.optimizer.step()\n";
}

}  // namespace

TEST_CASE("what is collected beside learning from it is collected in steps") {
  CHECK(reads(trainer("collect_rollouts", "self.learn()")) == "train.py:11");
  CHECK(reads(trainer("_sample_training_data", "self.learn()")) == "train.py:11");
  CHECK(reads(trainer("collect_rollouts", "self.report()")).empty());
  CHECK(reads(trainer("collect_test_rollouts", "self.learn()")).empty());
  // What a model of images draws, or an agent is filmed doing, shows what has been learnt.
  CHECK(reads(trainer("sample_images", "self.learn()")).empty());
  CHECK(reads(trainer("render_rollout", "self.learn()")).empty());
}

TEST_CASE("rollouts every so many rounds are for looking at") {
  const auto found = [](const std::string& condition) {
    return reads(
        "import torch\n"
        "def rollout(model, state):\n"
        "    for t in range(100):\n"
        "        state = model(state)\n"
        "        print(state.sum().item())\n"
        "def train(model, batches, optimizer, args):\n"
        "    for step in range(args.steps):\n"
        "        loss = model(batches[step]).mean()\n"
        "        loss.backward()\n"
        "        optimizer.step()\n"
        "        if " +
        condition +
        ":\n"
        "            rollout(model, batches[step])\n");
  };
  CHECK(found("args.on_policy") == "train.py:5");
  CHECK(found("step % args.render_every == 0").empty());
}

TEST_CASE("a framework's step is one with an underscore before it") {
  const auto method = [](const std::string& name) {
    return "class OrtTrainer:\n"
           "    def " +
           name +
           "(self, inputs):\n"
           "        outputs = self.session(inputs)\n"
           "        return outputs[0].item()\n";
  };
  const auto found = [&](const std::string& name) {
    return reads_below({"training_step", "", true}, "import torch\n" + method(name));
  };
  CHECK(found("training_step") == 1);
  CHECK(found("_training_step") == 1);
  CHECK(found("_naming_step") == 0);
}

TEST_CASE("an evaluation that computes the loss of a step, as a framework does, steps nothing") {
  const std::string loss =
      "class Trainer:\n"
      "    def _compute_loss(self, batch):\n"
      "        return self.model(batch).mean()\n";
  const auto loop = [](const std::string& name) {
    return "    def " + name +
           "(self, loader):\n"
           "        for batch in loader:\n"
           "            total = self._compute_loss(batch).item()\n";
  };
  const auto found = [&](const std::string& name) {
    return reads_below({"compute_loss", "Trainer", true}, "import torch\n" + loss + loop(name));
  };
  CHECK(found("run_epoch") == 1);
  CHECK(found("validate") == 0);
}

TEST_CASE("a loop of C++ behind the model's eval(), or under a guard, is one of validation") {
  const auto found = [](const std::string& before, const std::string& loader) {
    return places(item_rule({"step"}), {{"train.cpp", "",
                                         "#include <torch/torch.h>\n"
                                         "void train(Net& net) {\n"
                                         "  for (int epoch = 1; epoch <= 10; ++epoch) {\n"
                                         "    for (auto& batch : *loader) {\n"
                                         "      auto loss = net->forward(batch.data);\n"
                                         "      loss.backward();\n"
                                         "    }\n"
                                         "    " +
                                             before +
                                             "\n"
                                             "    for (auto& batch : *" +
                                             loader +
                                             ") {\n"
                                             "      auto loss = net->forward(batch.data);\n"
                                             "      total += loss.item<float>();\n"
                                             "    }\n"
                                             "  }\n"
                                             "}\n"}});
  };
  CHECK(found("", "others") == "train.cpp:11");
  CHECK(found("", "loader_val").empty());
  CHECK(found("net->eval();", "others").empty());
  CHECK(found("torch::NoGradGuard guard;", "others").empty());
  CHECK(found("{ torch::NoGradGuard guard; }", "others") == "train.cpp:11");
  CHECK(found("net->eval(); net->train();", "others") == "train.cpp:11");
  CHECK(found("if (frozen) { net->eval(); }", "others") == "train.cpp:11");
}

TEST_CASE("a file that makes no loader takes one with workers from where it is made") {
  SourceClause clause;
  clause.calls = {"next"};
  clause.contexts = {"step"};
  clause.unless = {"prefetched"};
  const RuleSet rules = clause_rule(std::move(clause), {"python"});
  const auto found = [&](const std::string& workers, const std::string& own) {
    return places(rules, {{"data.py", "",
                           "from torch.utils.data import DataLoader\n"
                           "def load(rows):\n"
                           "    return DataLoader(rows, num_workers=" +
                               workers + ")\n"},
                          {"train.py", "",
                           "import torch\n"
                           "import data\n"
                           "def train(model, rows, optimizer):\n"
                           "    batches = iter(" +
                               own +
                               "(rows))\n"
                               "    for step in range(100):\n"
                               "        model(next(batches)).backward()\n"
                               "        optimizer.step()\n"}});
  };
  CHECK(found("0", "data.load") == "train.py:6");
  CHECK(found("4", "data.load").empty());
  CHECK(found("4", "torch.utils.data.DataLoader") == "train.py:6");
}

TEST_CASE("a check of gradients steps nothing") {
  const auto found = [](const std::string& name) {
    return in_step({{"train.py", "def " + name +
                                     "(model, loader):\n"
                                     "    for x in loader:\n"
                                     "        loss = model(x)\n"
                                     "        loss.backward()\n"
                                     "        print(loss.item())\n"}});
  };
  CHECK(found("accumulate") == "train.py:5");
  CHECK(found("check_gradients").empty());
}

TEST_CASE("what calls itself again is proven by the way from the step, and by no circle") {
  const std::string agent =
      "import torch\n"
      "def predict(model, loss):\n"
      "    return refine(model, loss)\n"
      "def refine(model, loss):\n"
      "    if loss.dim() > 1:\n"
      "        return predict(model, loss.mean())\n"
      "    return loss.item()\n";
  const std::string trainer =
      "import torch\n"
      "from agent import predict\n"
      "def train(model, opt, loader):\n"
      "    for x in loader:\n"
      "        loss = model(x).mean()\n"
      "        loss.backward()\n"
      "        opt.step()\n"
      "        predict(model, loss)\n";
  const std::vector<SourceInput> files = {{"agent.py", "", agent}, {"train.py", "", trainer}};
  const RuleSet rules = item_rule({"step"});
  const SourceIndex index = SourceIndex::build(files, rules, {});
  REQUIRE(index.facts().size() == 1);
  CHECK(index.facts()[0].context_chain ==
        std::vector<std::string>{"in the loop at train.py:4", "called from train() at train.py:8",
                                 "called from predict() at agent.py:3"});
}
