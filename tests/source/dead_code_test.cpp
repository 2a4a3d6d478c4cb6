// What nobody can be seen to run: functions that a program never names, options that nobody turns
// on, what stands behind raise.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "source/facts/vocabulary.h"
#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// "file:line" of each read in these files.
std::string reads(const std::vector<SourceInput>& files) {
  return places(item_rule({"step", "forward"}), files);
}

/// A module whose forward() runs `body`, with these parameters behind x, and the helpers it calls.
std::string module_with(const std::string& parameters, const std::string& body) {
  return "import torch\nimport torch.distributed as dist\nfrom torch import nn\n"
         "class Net(nn.Module):\n"
         "    def forward(self, x" +
         parameters + "):\n" + body + "        return x\n";
}

/// A file of helpers, and a module that imports it, whose forward() is this call.
std::vector<SourceInput> called_by_module(const std::string& helper, const std::string& text,
                                          const std::string& call) {
  return {{helper + ".py", "", text},
          {"net.py", "", "import " + helper + "\n" + module_with("", "        " + call + "\n")}};
}

}  // namespace

TEST_CASE("what a program defines and never names is dead, what a library defines is not") {
  const std::string unused =
      "import torch\n"
      "def spread(model: torch.Tensor):\n"
      "    return model.sum().item()\n";
  CHECK(reads({{"train.py", "", unused}}) == "train.py:3");
  CHECK(reads({{"train.py", "", unused + "if __name__ == '__main__':\n    print(1)\n"}}).empty());
  CHECK(reads({{"train.py", "", unused + "if __name__ == '__main__':\n    run(spread)\n"}}) ==
        "train.py:3");
  // Imported by another file: a library as well.
  CHECK(reads({{"train.py", "", unused + "if __name__ == '__main__':\n    print(1)\n"},
               {"other.py", "", "import train\nfrom train import spread\n"}}) == "train.py:3");
}

TEST_CASE("the folder of an imported module is no module of that name") {
  const std::string fit =
      "import torch\n"
      "def fit_path(model, data, optimizer):\n"
      "    for batch in data:\n"
      "        loss = model(batch)\n"
      "        loss.backward()\n"
      "        optimizer.step()\n"
      "        print(loss.item())\n";
  const auto read_with = [&](const std::string& import) {
    return reads({{"net/spline/solving.py", "", fit}, {"net/main.py", "", import + fit}});
  };
  CHECK(read_with("import os\n") == "net/main.py:8 net/spline/solving.py:7");
  CHECK(read_with("from net.solving.losses import Focal\n") ==
        "net/main.py:8 net/spline/solving.py:7");
  // What others import is known, and nobody names this.
  CHECK(read_with("from net.spline.solving import Focal\n") == "net/main.py:8");
}

TEST_CASE("what no file of a C++ program names, other than to declare it, is low") {
  const std::string metric =
      "#include <torch/torch.h>\n"
      "float error_of(const torch::Tensor& x);\n"
      "float error_of(const torch::Tensor& x) {\n"
      "  return x.sum().item<float>();\n"
      "}\n";
  const auto is_unnamed = [&](const std::string& path, const std::string& text) {
    const RuleSet rules = item_rule({"library"});
    const SourceIndex index =
        SourceIndex::build({{"metric.cpp", "", metric}, {path, "", text}}, rules, {});
    const std::vector<SourceFact> facts = index.facts();
    REQUIRE(facts.size() == 1);
    const std::vector<std::string>& guards = facts[0].guards;
    return std::ranges::find(guards, kUnnamed) != guards.end();
  };
  CHECK(is_unnamed("main.cpp", "// error_of(x);\nint main() {\n  return 0;\n}\n"));
  CHECK_FALSE(is_unnamed("main.cpp", "int main() {\n  report.add(error_of);\n}\n"));
  CHECK_FALSE(is_unnamed("main.cpp", "#define ADD(x) error_of(x)\nint main() {}\n"));
  CHECK_FALSE(is_unnamed("main.cpp", "int main() {\n  return error_of(x);\n}\n"));
  CHECK_FALSE(is_unnamed("main.cpp", "int main() {\n  x = norm * error_of(x);\n}\n"));
  // A library, with a program in its tests at most, has it for others.
  CHECK_FALSE(is_unnamed("other.cpp", "float norm() {\n  return 0;\n}\n"));
  CHECK_FALSE(is_unnamed("tests/main.cpp", "int main() {\n  return 0;\n}\n"));
  CHECK_FALSE(is_unnamed("src/metricTest.cpp", "int main() {\n  return 0;\n}\n"));
  CHECK_FALSE(is_unnamed("bind.py", "import ctypes\nlib.error_of(x)\n"));
}

TEST_CASE("a call means no object of a module that nothing imports where another may be meant") {
  const std::string sampler =
      "import torch\n"
      "class LossSampler:\n"
      "    def draw(self, t):\n"
      "        t = t / t.sum()\n"
      "        return t.sum().item()\n";
  const std::string loop =
      "from sampler import LossSampler\n"
      "made = LossSampler()\n"
      "def train(model, optimizer, loader):\n"
      "    for batch in loader:\n"
      "        model(batch, pick().draw(torch.ones(3).cuda())).backward()\n"
      "        optimizer.step()\n";
  const auto found = [&](const std::string& imports, const std::string& behind) {
    return places(item_rule({"step"}), {{"old_sampler.py", "", sampler + behind},
                                        {"sampler.py", "", sampler},
                                        {"train.py", "", "import torch\n" + imports + loop}});
  };
  const std::string both = "old_sampler.py:5 sampler.py:5";
  CHECK(found("", "") == "sampler.py:5");
  CHECK(found("import old_sampler\nuse(old_sampler.LossSampler)\n", "") == both);
  CHECK(found("import importlib\nimportlib.import_module(name)\n", "") == both);
  CHECK(found("", "import train\ntrain.train(net, adam, LossSampler(), data)\n") == both);
}

TEST_CASE("of several classes a call of action_head.module means those called so") {
  const std::string heads =
      "import torch\n"
      "class RegressionActionHead:\n"
      "    def predict(self, x):\n"
      "        x = x / x.sum()\n"
      "        return x.sum().item()\n"
      "class Policy:\n"
      "    def predict(self, x):\n"
      "        x = x / x.sum()\n"
      "        return x.sum().item()\n";
  const auto found = [&](const std::string& object) {
    return places(item_rule({"step"}),
                  {{"heads.py", "", heads},
                   {"train.py", "",
                    "import torch\nfrom heads import Policy, RegressionActionHead\n"
                    "made = [Policy(), RegressionActionHead()]\n"
                    "def train(model, optimizer, loader, action_head, either):\n"
                    "    for batch in loader:\n"
                    "        loss = model(batch, " +
                        object +
                        ".predict(torch.ones(3).cuda()))\n"
                        "        loss.backward()\n"
                        "        optimizer.step()\n"}});
  };
  CHECK(found("action_head.module") == "heads.py:5");
  CHECK(found("either") == "heads.py:5 heads.py:9");
}

TEST_CASE("a library's function of the same name does not keep one alive") {
  const auto found = [](const std::string& call) {
    return reads(called_by_module("comm",
                                  "import torch\n"
                                  "def all_gather(x: torch.Tensor):\n"
                                  "    return x.sum().item()\n",
                                  call));
  };
  CHECK(found("dist.all_gather(x)").empty());
  CHECK(found("own.all_gather(x)") == "comm.py:3");
}

TEST_CASE("an option that callers only hand on is not turned on") {
  const std::string loss =
      "import torch\n"
      "def mse(x: torch.Tensor, y, mask=None):\n"
      "    if mask is not None:\n"
      "        x = x / x.sum().item()\n"
      "    return (x - y).mean()\n"
      "def psnr(x, y, mask=None):\n"
      "    return mse(x, y, mask).log()\n";
  const auto found = [&](const std::string& call) {
    return reads(called_by_module("losses", loss, call));
  };
  CHECK(found("losses.psnr(x, x)").empty());
  CHECK(found("losses.psnr(x, x, mask=x > 0)") == "losses.py:4");
}

TEST_CASE("the other branch of what is on by default is asked for by False") {
  const std::string attention =
      "import torch\n"
      "def attend(x: torch.Tensor, fused=True):\n"
      "    if fused:\n"
      "        return x\n"
      "    else:\n"
      "        return x / x.sum().item()\n";
  const auto found = [&](const std::string& call) {
    return reads(called_by_module("layers", attention, call));
  };
  CHECK(found("layers.attend(x)").empty());
  CHECK(found("layers.attend(x, fused=False)") == "layers.py:6");
  CHECK(found("layers.attend(x, fused=self.fused)") == "layers.py:6");
}

TEST_CASE("nothing runs behind raise, and a check's message only where it fails") {
  const RuleSet rules = items_unless("any", "error-path");
  const auto found = [&](const std::string& file, const std::string& code) {
    return SourceIndex::build({{file, "", code}}, rules, {}).facts().size();
  };
  CHECK(found("a.py", "import torch\ndef f(x):\n    assert False\n    return x.item()\n") == 0);
  CHECK(found("a.py", "import torch\ndef f(x):\n    assert x\n    return x.item()\n") == 1);
  CHECK(found("a.py", "import torch\ndef f(x):\n    raise Error\n    return x.item()\n") == 0);
  const std::string head = "#include <torch/torch.h>\nvoid f(const torch::Tensor& n) {\n  ";
  CHECK(found("a.cpp", head + "TORCH_CHECK(n.dim() > 0, \"got \", n.item<int>());\n}\n") == 0);
  CHECK(found("a.cpp", head + "TORCH_CHECK(n.item<int>() > 0, \"got none\");\n}\n") == 1);
}

TEST_CASE("asking for an attribute of another object keeps nothing") {
  const auto forward = [](const std::string& owner) {
    const std::string code = "        if hasattr(" + owner + ", 'fused'):\n            return " +
                             owner +
                             ".fused\n"
                             "        return self.scaled(x)\n"
                             "    def scaled(self, x):\n"
                             "        x = x / x.sum().item()\n";
    return reads({{"net.py", "", module_with("", code)}});
  };
  CHECK(forward("library") == "net.py:10");
  CHECK(forward("self").empty());
}

TEST_CASE("what documents a function does not call it, nor does an attribute of another object") {
  const auto helper = [](const std::string& about) {
    return "import torch\nimport torch.distributed as dist\n"
           "def all_gather(x: torch.Tensor):\n"
           "    \"" +
           about +
           "\"\n"
           "    dist.all_gather([], x)\n"
           "    return x.sum().item()\n";
  };
  const std::string uses = "import misc\nmisc.setup()\n";
  CHECK(reads({{"misc.py", "", helper("Run all_gather on any data")}, {"train.py", "", uses}})
            .empty());
  CHECK(reads({{"misc.py", "",
                helper("For all ranks") + "table = {'all_gather': 1}\nrun = globals()[table]\n"},
               {"train.py", "", uses}}) == "misc.py:6");

  const auto program = [](const std::string& argument) {
    return "import torch\n"
           "def train(cfg, model):\n"
           "    optimizer = build_optimizer(" +
           argument +
           ", model)\n"
           "    for epoch in range(cfg.epochs):\n"
           "        print(model.weight.sum().item())\n"
           "def train_one_epoch(loss, optimizer):\n"
           "    optimizer.step()\n"
           "    scale(loss, optimizer)\n";
  };
  const RuleSet rules = items_unless("step", "no-visible-caller");
  CHECK(places(rules, {{"train.py", "", program("train")}}) == "train.py:5");
  CHECK(places(rules, {{"train.py", "", program("cfg.train")}}).empty());
}

TEST_CASE("methods of classes that nothing makes are dead, whoever calls them") {
  const auto found = [](const std::string& more, const std::string& net,
                        std::vector<SourceInput> others = {}) {
    others.push_back({"layers.py", "",
                      "import torch\nfrom torch import nn\n"
                      "class Gate(nn.Module):\n"
                      "    def forward(self, x):\n"
                      "        return x / x.sum().item()\n" +
                          more});
    others.push_back(
        {"net.py", "", "import layers\nfrom layers import Gate\n" + net + module_with("", "")});
    return reads(others);
  };
  CHECK(found("", "").empty());
  CHECK(found("", "gate = Gate()\n") == "layers.py:5");
  CHECK(found("", "gate = layers.Gate()\n") == "layers.py:5");
  CHECK(found("", "gate = getattr(layers, 'Gate')\n") == "layers.py:5");
  CHECK(found("", "gate = getattr(layers, name)\n") == "layers.py:5");
  CHECK(found("", "print('the Gate is open')\n").empty());
  // Who makes it counts if it is used itself.
  const std::string block =
      "class Block(nn.Module):\n"
      "    def __init__(self):\n"
      "        self.gate = Gate()\n";
  CHECK(found(block, "").empty());
  CHECK(found(block, "block = layers.Block()\n") == "layers.py:5");
  CHECK(found("def make():\n    return Gate()\n", "").empty());
  CHECK(found("def make():\n    return Gate()\n", "gate = layers.make()\n") == "layers.py:5");
  CHECK(found("gate = Gate()\n", "") == "layers.py:5");
  CHECK(found("Gate = register(Gate)\n", "") == "layers.py:5");
  // What a package gives its users, and what is found by names put together.
  const SourceInput exports = {"__init__.py", "", "from layers import Gate\n__all__ = ['Gate']\n"};
  CHECK(found("", "", {exports}).empty());
  CHECK(found("", "", {exports, {"use.py", "", "from layers import Gate\nprint(Gate())\n"}}) ==
        "layers.py:5");
  CHECK(found("", "", {{"setup.py", "", "from setuptools import setup\nsetup(name='x')\n"}}) ==
        "layers.py:5");
  CHECK(found("", "", {{"pyproject.toml", "", "[project]\nname = \"x\"\n"}}) == "layers.py:5");
  CHECK(found("", "", {{"pyproject.toml", "", "[tool.ruff]\nline-length = 100\n"}}).empty());
  CHECK(found("", "import importlib\nimportlib.import_module(name)\n") == "layers.py:5");
  CHECK(found("", "", {{"model.yaml", "", "model:\n  target: layers.Gate\n"}}) == "layers.py:5");
  // A program is not there for its tests.
  CHECK(found("def _test_gate():\n    Gate()(1)\n", "layers._test_gate()\n").empty());
  CHECK(found("", "", {{"tests/test_layers.py", "", "from layers import Gate\nGate()\n"}}).empty());
}

TEST_CASE("a function of autograd that its package does not export is dead if nothing applies it") {
  const auto found = [](const std::string& more, std::vector<SourceInput> others) {
    others.push_back({"pyproject.toml", "", "[project]\nname = \"x\"\n"});
    others.push_back({"pool.py", "",
                      "import torch\n"
                      "class Pool(torch.autograd.Function):\n"
                      "    @staticmethod\n"
                      "    def forward(ctx, x):\n"
                      "        return x / x.sum().item()\n" +
                          more});
    others.push_back({"net.py", "", "import pool\n" + module_with("", "        pool.reduce(x)\n")});
    return reads(others);
  };
  CHECK(found("", {}).empty());
  CHECK(found("def reduce(x):\n    return Pool.apply(x)\n", {}) == "pool.py:5");
  CHECK(found("", {{"use.py", "", "import pool\nprint(pool.Pool.apply(1))\n"}}) == "pool.py:5");
  CHECK(found("", {{"__init__.py", "", "from .pool import Pool\n"}}) == "pool.py:5");
}

TEST_CASE("a decorated class is given to its decorator") {
  const auto found = [](const std::string& decorator) {
    return reads({{"layers.py", "",
                   "import torch\nfrom torch import nn\n" + decorator +
                       "class Gate(nn.Module):\n"
                       "    def forward(self, x):\n"
                       "        return x / x.sum().item()\n"},
                  {"net.py", "", "import layers\n" + module_with("", "")}});
  };
  CHECK(found("").empty());
  CHECK(found("@layer\n") == "layers.py:6");
}

TEST_CASE("a function keeps none of its name's methods, nor an unused import a function") {
  const std::string helper =
      "import torch\n"
      "def spread(x: torch.Tensor):\n"
      "    return x.sum().item()\n";
  const auto found = [&](const std::string& net) {
    return reads({{"tools.py", "", helper}, {"net.py", "", "import torch\nimport tools\n" + net}});
  };
  CHECK(found("self.spread(1)\n").empty());
  CHECK(found("from tools import spread\n").empty());
  CHECK(found("from tools import spread\ndef step(run: Callable[[], spread]): pass\n") ==
        "tools.py:3");
  CHECK(found("from tools import spread as even\nrun(even)\n") == "tools.py:3");
}

TEST_CASE("what others import of a module by name is used, not what has a word's name") {
  const std::string helpers =
      "import torch\n"
      "def train(model, loader, optimizer):\n"
      "    for x in loader:\n"
      "        loss = model(x).mean()\n"
      "        loss.backward()\n"
      "        optimizer.step()\n"
      "        print(loss.item())\n"
      "def order(x):\n"
      "    return x\n";
  const auto found = [&](const std::string& imports, const std::string& more) {
    return reads({{"helpers.py", "", helpers},
                  {"main.py", "",
                   "import torch\n" + imports +
                       "\ndef fit(net, phase):\n"
                       "    net.train()\n"
                       "    return order(phase == 'train')\n" +
                       more}});
  };
  CHECK(found("from helpers import order", "").empty());
  CHECK(found("from helpers import order, train", "") == "helpers.py:7");
  CHECK(found("from helpers import order, train as run", "") == "helpers.py:7");
  CHECK(found("from helpers import *", "") == "helpers.py:7");
  CHECK(found("import helpers\nfrom helpers import order", "") == "helpers.py:7");
  CHECK(found("import helpers\nfrom helpers import order",
              "    return getattr(helpers, phase)()\n") == "helpers.py:7");
}

TEST_CASE("the model of a program that trains nothing runs in no step") {
  const auto found = [](const std::string& end, const std::string& parser = "argparse") {
    return reads({{"track.py", "",
                   "import torch, " + parser +
                       "\n"
                       "from torch import nn\n"
                       "class Tracker(nn.Module):\n"
                       "    def forward(self, x):\n"
                       "        return x / x.sum().item()\n" +
                       end}});
  };
  CHECK(found("if __name__ == '__main__':\n    follow(Tracker())\n").empty());
  CHECK(found("if __name__ == '__main__':\n    train(Tracker())\n") == "track.py:5");
  CHECK(found("") == "track.py:5");
  // A model that is tried where it is defined.
  CHECK(found("if __name__ == '__main__':\n    print(Tracker()(1))\n", "time") == "track.py:5");
}

TEST_CASE("classes of the same names in many files are followed generation by generation") {
  // 20 scripts with the same models: of their classes there are 20^7 lines of descent.
  std::string classes = "import torch\nclass C0:\n    pass\n";
  for (int i = 1; i < 8; ++i)
    classes += "class C" + std::to_string(i) + "(C" + std::to_string(i - 1) + "):\n    pass\n";
  classes += "    def _spread(self, x: torch.Tensor):\n        return x.sum().item()\n";
  std::vector<SourceInput> files;
  std::string imports = "import torch\n";
  for (int i = 0; i < 20; ++i) {
    const std::string name = "model" + std::to_string(i);
    files.push_back({name + ".py", "", classes});
    imports +=
        "from " + name + " import C7 as D" + std::to_string(i) + "\nD" + std::to_string(i) + "()\n";
  }
  files.push_back({"train.py", "", imports});
  CHECK(reads(files).empty());
  // What comes from outside may be called from there.
  files.front().bytes = "import torch\nimport lib\nclass C0(lib.Base):\n    pass\n";
  CHECK_FALSE(reads(files).empty());
}
