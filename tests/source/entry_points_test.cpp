// What frameworks call in every step: the class that says so may stand in another file.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"

using namespace stallscope;

namespace {

/// How many reads stand in the step() of optimizers, whoever calls it.
size_t reads_of_optimizers(std::vector<SourceInput> files) {
  IndexOptions options;
  options.entry_points = {{"step", "Optimizer", true, false}};
  const RuleSet rules = item_rule({"step"});
  const SourceIndex index = SourceIndex::build(std::move(files), rules, options);
  const std::vector<SourceFact> facts = index.facts();
  return static_cast<size_t>(std::ranges::count(facts, "step", &SourceFact::context));
}

const std::string kOwnStep =
    "    def step(self):\n"
    "        return torch.ones(3).cuda().mean().item()\n";

}  // namespace

TEST_CASE("a method of C++ belongs to the class that a header declares") {
  const std::string method =
      "#include \"adam.h\"\n"
      "torch::Tensor OneBit::step(Closure closure) {\n"
      "  auto scale = torch::ones({1}).cuda().mean();\n"
      "  return scale.item<double>();\n"
      "}\n";
  const auto with = [&](const std::string& base) {
    return reads_of_optimizers(
        {{"adam.h", "",
          "#include <torch/torch.h>\nclass OneBit : public " + base + " { void step(); };\n"},
         {"adam.cpp", "", method}});
  };
  CHECK(with("torch::optim::Optimizer") == 1);
  CHECK(with("Widget") == 0);
}

TEST_CASE("a base may have its base in another file") {
  const auto with = [&](const std::string& base) {
    return reads_of_optimizers(
        {{"base.py", "", "import torch\nclass Scaled(" + base + "):\n    pass\n"},
         {"muon.py", "",
          "import torch\nfrom base import Scaled\nclass Muon(Scaled):\n" + kOwnStep}});
  };
  CHECK(with("torch.optim.Optimizer") == 1);
  CHECK(with("Widget") == 0);
}
