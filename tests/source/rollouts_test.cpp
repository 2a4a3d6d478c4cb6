// Steps that are not written around an optimiser: what an agent collects to learn from, and
// trainers' own methods.
#include <doctest/doctest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"

using namespace stallscope;

namespace {

/// Lines of "train.py" with a read in a step.
std::vector<uint32_t> reads(const std::string& code) {
  std::vector<uint32_t> out;
  const RuleSet rules = item_rule({"step"});
  const SourceIndex index = SourceIndex::build({{"train.py", "", code}}, rules, {});
  for (const SourceFact& fact : index.facts()) out.push_back(fact.first_line);
  std::ranges::sort(out);
  return out;
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
  const std::vector<uint32_t> found{11};
  CHECK(reads(trainer("collect_rollouts", "self.learn()")) == found);
  CHECK(reads(trainer("_sample_training_data", "self.learn()")) == found);
  CHECK(reads(trainer("collect_rollouts", "self.report()")).empty());
  CHECK(reads(trainer("collect_test_rollouts", "self.learn()")).empty());
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
  const RuleSet rules = item_rule({"step"});
  IndexOptions options;
  options.entry_points = {{"training_step", "", true}};
  const auto found = [&](const std::string& name) {
    const std::string code = "import torch\n" + method(name);
    return SourceIndex::build({{"train.py", "", code}}, rules, options).facts().size();
  };
  CHECK(found("training_step") == 1);
  CHECK(found("_training_step") == 1);
  CHECK(found("_naming_step") == 0);
}
