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

TEST_CASE("a part is known by its index, too") {
  const RuleSet rules = tensors_read_by("float");
  const std::string measure = "def measure(x, y):\n    return F.mse_loss(x, y), len(y)\n";
  const auto found = [&](const std::string& body) {
    return places(rules, step_with(body, measure));
  };
  CHECK(found("out = helper.measure(x, y); print(float(out[0]))") == "train.py:7");
  CHECK(found("out = helper.measure(x, y); print(float(out[1]))").empty());
}

TEST_CASE("what a mapping holds under a key is known to those who take it out") {
  const RuleSet rules = tensors_read_by("float");
  const auto found = [&](const std::string& body, const std::string& made) {
    return places(rules, step_with("out = helper.measure(x, y); print(" + body + ")",
                                   "def measure(x, y):\n    loss = F.mse_loss(x, y)\n" + made));
  };
  for (const char* made :
       {"    return {'loss': loss, 'n': len(y)}\n", "    return dict(loss=loss, n=len(y))\n",
        "    out = {'n': len(y)}\n    out['loss'] = loss\n    return out\n",
        "    out = {'n': len(y)}\n    out.update(loss=loss)\n    return out\n",
        "    out = dict(n=len(y))\n    out.update({'loss': loss})\n    return out\n"}) {
    CHECK_MESSAGE(found("float(out['loss'])", made) == "train.py:7", made);
    CHECK_MESSAGE(found("float(out.get('loss'))", made) == "train.py:7", made);
    CHECK_MESSAGE(found("float(out['n'])", made).empty(), made);
    CHECK_MESSAGE(found("[float(v) for v in out.values()]", made) == "train.py:7", made);
  }
  CHECK(found("float(out['loss'])", "    return {'loss': loss.item()}\n").empty());
  CHECK(found("[float(v) for v in out.values()]", "    return {'loss': loss.item()}\n").empty());
  // A variable that is another mapping by then.
  CHECK(found("float(out['loss'])",
              "    out = {'loss': loss}\n    out = {'loss': 3}\n    return out\n")
            .empty());
}

TEST_CASE("a declared mapping of tensors gives them, and its keys are none") {
  const RuleSet rules = tensors_read_by("float");
  const auto found = [&](const std::string& body, const std::string& type) {
    return places(rules, step_with("out = helper.measure(x); " + body,
                                   "def measure(x) -> " + type + ":\n    return library(x)\n"));
  };
  CHECK(found("print(float(out['loss']))", "Dict[str, torch.Tensor]") == "train.py:7");
  CHECK(found("print([float(k) for k in out])", "Dict[str, torch.Tensor]").empty());
  CHECK(found("print(float(out['loss']))", "Dict[str, float]").empty());
  CHECK(found("print(float(out['loss']))", "Tuple[torch.Tensor, Dict[str, float]]").empty());
}

TEST_CASE("what a method of an object gives is known by the object's class") {
  const RuleSet rules = tensors_read_by("float");
  const std::string classes =
      "class Base:\n"
      "    def loss(self, x, y):\n"
      "        return F.mse_loss(x, y)\n"
      "class Agent(Base):\n"
      "    def update(self, x, y):\n"
      "        return {'loss': F.mse_loss(x, y)}, len(y)\n"
      "    def count(self, x, y):\n"
      "        return len(y)\n"
      "    def twice(self, x, y):\n"
      "        a = super().loss(x, y)\n"
      "        return a\n"
      "    def __call__(self, x, y):\n"
      "        return F.mse_loss(x, y)\n"
      "def build(config):\n"
      "    return Agent()\n";
  const auto found = [&](const std::string& body, const std::string& made) {
    Files files = step_with(body, classes);
    files[1].bytes.insert(files[1].bytes.find("    for"), "    agent = " + made + "\n");
    return places(rules, files);
  };
  for (const char* made : {"helper.Agent()", "helper.build(1)"}) {
    CHECK_MESSAGE(found("print(float(agent.loss(x, y)))", made) == "train.py:8", made);
    CHECK_MESSAGE(found("a = agent.twice(x, y); print(float(a))", made) == "train.py:8", made);
    CHECK_MESSAGE(found("print(float(agent(x, y)))", made) == "train.py:8", made);
    CHECK_MESSAGE(found("print(float(agent.count(x, y)))", made).empty(), made);
    CHECK_MESSAGE(found("_, n = agent.update(x, y); print(float(n))", made).empty(), made);
  }
  Files files = step_with("print(float(agent.loss(x, y)))", classes);
  const std::string bare = "optimizer)";
  files[1].bytes.replace(files[1].bytes.find(bare), bare.size(), "optimizer, agent: helper.Agent)");
  CHECK(places(rules, files) == "train.py:7");
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
