// What functions give: each part of a tuple, what an annotation declares, what is compiled; and
// what their callers do not give.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

using Files = std::vector<SourceInput>;

/// Calls of `name` that are handed a tensor in a step.
RuleSet tensors_read_by(const std::string& name) {
  return reads_of(name, "tensor", "not-given");
}

/// A loop that does `body` in each step, and a module whose function it may call.
Files step_with(const std::string& body, const std::string& helper) {
  return {{"helper.py", "", "import torch\nimport torch.nn.functional as F\n" + helper},
          {"train.py", "",
           "import torch\nimport helper\n"
           "def train(model, loader, optimizer):\n"
           "    for x, y in loader:\n"
           "        model(x).mean().backward()\n"
           "        optimizer.step()\n"
           "        " +
               body + "\n"}};
}

}  // namespace

TEST_CASE("each part of a returned tuple is known by its position") {
  const RuleSet rules = tensors_read_by("float");
  const std::string measure =
      "def measure(x, y):\n"
      "    return len(y), F.mse_loss(x, y), 'mse'\n";
  const auto found = [&](const std::string& body, const std::string& helper) {
    return places(rules, step_with(body, helper));
  };
  CHECK(found("n, loss, name = helper.measure(x, y); print(float(loss))", measure) == "train.py:7");
  CHECK(found("n, loss, name = helper.measure(x, y); print(float(n))", measure).empty());
  CHECK(found("n, *rest = helper.measure(x, y); print(float(n))", measure).empty());
  // Where one path gives two and another three, no position means anything.
  const std::string vary =
      "def measure(x, y):\n"
      "    if x is None:\n        return 1, 2\n"
      "    return len(y), F.mse_loss(x, y), 'mse'\n";
  CHECK(found("n, loss, name = helper.measure(x, y); print(float(loss))", vary).empty());
  // Beside a way that gives nothing.
  const std::string nothing =
      "def measure(x, y):\n"
      "    if x is None:\n        return None\n"
      "    return len(y), F.mse_loss(x, y)\n";
  CHECK(found("n, loss = helper.measure(x, y); print(float(loss))", nothing) == "train.py:7");
}

TEST_CASE("methods are found on the parts of what a function gives") {
  const RuleSet rules = tensors_read_by("float");
  Files files = step_with("meter.add(x)",
                          "class Meter:\n"
                          "    def add(self, x):\n"
                          "        self.sum = float(torch.relu(x))\n"
                          "def build(config):\n"
                          "    return 3, Meter()\n");
  const size_t loop = files[1].bytes.find("    for");
  files[1].bytes.insert(loop, "    n, meter = helper.build(1)\n");
  CHECK(places(rules, files) == "helper.py:5");
}

TEST_CASE("a declared tensor is one where inference knows no better") {
  const RuleSet rules = tensors_read_by("float");
  const auto found = [&](const std::string& helper) {
    return places(rules, step_with("print(float(helper.average(x)))", helper));
  };
  CHECK(found("def average(x) -> torch.Tensor:\n    return library(x)\n") == "train.py:7");
  CHECK(found("def average(x):\n    return library(x)\n").empty());
  CHECK(found("def average(x) -> torch.Tensor:\n    return torch.zeros(3)\n").empty());
}

TEST_CASE("a step's parse_batch() and checks of what is valid are no set-up and no evaluation") {
  const RuleSet rules = tensors_read_by("float");
  for (const char* name : {"parse_batch", "validate_rays", "get_valid_mask", "setup_linear_problem",
                           "draw_gaussian", "initial", "load_imgs"}) {
    const std::string helper =
        "def " + std::string(name) + "(x):\n    return x / float(torch.relu(x).max())\n";
    CHECK_MESSAGE(
        places(rules, step_with("helper." + std::string(name) + "(x)", helper)) == "helper.py:4",
        name);
  }
  for (const char* name :
       {"parse_args", "setup_optimizer", "draw_boxes", "validate", "load_weights"}) {
    const std::string helper =
        "def " + std::string(name) + "(x):\n    return x / float(torch.relu(x).max())\n";
    CHECK_MESSAGE(places(rules, step_with("helper." + std::string(name) + "(x)", helper)).empty(),
                  name);
  }
}

TEST_CASE("None that a variable holds is not given") {
  const RuleSet rules = tensors_read_by("float");
  const std::string helper =
      "def attend(x, mask=None):\n"
      "    if mask is None:\n"
      "        mask = float(torch.relu(x).max())\n"
      "    return x * mask\n";
  CHECK(places(rules, step_with("m = None; helper.attend(x, mask=m)", helper)) == "helper.py:5");
  CHECK(places(rules, step_with("m = None; helper.attend(x, m)", helper)) == "helper.py:5");
  CHECK(places(rules, step_with("helper.attend(x, mask=y)", helper)).empty());
}

TEST_CASE("a short function that waits where it is asked to waits for those who ask") {
  auto condition = std::make_shared<SourceCondition>();
  condition->any.emplace_back().calls = {"torch.cuda.synchronize"};
  const auto rules = RuleSet::compile({{{"wait", {"python"}, condition, false, true}}});
  REQUIRE(rules.ok());
  const auto found = [&](const std::string& body) {
    return places(rules.value(), step_with(body,
                                           "def first():\n    return 1\n"
                                           "def second():\n    return 2\n"
                                           "def sync(device=None, wait=False):\n"
                                           "    if wait:\n"
                                           "        torch.cuda.synchronize(device)\n"));
  };
  CHECK(found("helper.sync(wait=True)") == "train.py:7");
  CHECK(found("helper.sync(None, True)") == "train.py:7");
  CHECK(found("helper.sync()").empty());
  CHECK(found("helper.sync(wait=False)").empty());
}
