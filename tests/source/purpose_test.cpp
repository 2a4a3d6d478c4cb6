// What a project is for, and what keeps code from running in each step.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// "file:line" of each read in a step or a forward pass.
std::string reads(const std::vector<SourceInput>& files) {
  return places(item_rule({"step", "forward"}), files);
}

/// A loop of steps that does `body` with the loss, below these definitions.
std::string program(const std::string& definitions, const std::string& body) {
  return "import torch\n" + definitions +
         "def train(model, batches, optimizer):\n"
         "    for step, x in enumerate(batches):\n"
         "        loss = model(x).mean()\n"
         "        loss.backward()\n"
         "        optimizer.step()\n" +
         body;
}

/// Whether a read of these files, of which there is one, is lowered for `guard`.
bool lowered(const std::vector<SourceInput>& files, std::string_view guard) {
  const RuleSet rules = item_rule({"step", "forward", "launcher"});
  const SourceIndex index = SourceIndex::build(files, rules, {});
  const std::vector<SourceFact> facts = index.facts();
  REQUIRE(facts.size() == 1);
  return std::ranges::find(facts.front().guards, guard) != facts.front().guards.end();
}

}  // namespace

TEST_CASE("where nothing trains nothing stalls training") {
  const std::string model =
      "import torch\nfrom torch import nn\n"
      "class Net(nn.Module):\n"
      "    def forward(self, x):\n"
      "        return x / x.sum().item()\n";
  const std::string predict =
      "import torch\nfrom net import Net\n"
      "@torch.no_grad()\n"
      "def predict(x):\n"
      "    return Net()(x)\n";
  const std::string train =
      "def fit_once(x, optimizer):\n    Net()(x).backward()\n    optimizer.step()\n";
  // A model alone may be trained by others.
  CHECK(reads({{"net.py", "", model}}) == "net.py:5");
  CHECK(reads({{"net.py", "", model}, {"predict.py", "", predict}}).empty());
  CHECK(reads({{"net.py", "", model}, {"predict.py", "", predict + train}}) == "net.py:5");
  // What freezes a model does not train it, whatever a configuration speaks of.
  const std::string freeze = "model = Net().eval().requires_grad_(False)\n";
  CHECK(reads({{"net.py", "", model},
               {"predict.py", "", predict + freeze},
               {"run.yaml", "", "optimizer: none\n"}})
            .empty());
}

TEST_CASE("a program of C++ that generates text is lowered") {
  const auto program = [](const std::string& more) {
    return std::vector<SourceInput>{{"main.cpp", "",
                                     "#include <torch/torch.h>\n"
                                     "struct Net : torch::nn::Module {\n"
                                     "  torch::Tensor forward(torch::Tensor x) {\n"
                                     "    return x / x.sum().item<float>();\n"
                                     "  }\n"
                                     "};\n"
                                     "int main() {\n"
                                     "  Net net;\n"
                                     "  for (auto& x : prompt) say(net.forward(x.to(kCUDA)));\n" +
                                         more + "}\n"}};
  };
  CHECK(lowered(program(""), kGenerates));
  CHECK_FALSE(lowered(program("  loss.backward();\n"), kGenerates));
}

TEST_CASE("a program that names no device stays on the host") {
  const std::string steps =
      "def update(model, x, optimizer):\n"
      "    loss = model(x).mean()\n"
      "    loss.backward()\n"
      "    optimizer.step()\n"
      "    return loss.item()\n";
  const SourceInput training{"training.py", "", "import torch\n" + steps};
  const auto train = [](const std::string& model) {
    return SourceInput{"train.py", "",
                       "import torch\nfrom training import update\n"
                       "def main():\n"
                       "    model = " +
                           model +
                           "\n"
                           "    optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
                           "    for x in batches:\n"
                           "        update(model, x, optimizer)\n"
                           "if __name__ == '__main__':\n"
                           "    main()\n"};
  };
  CHECK(reads({training, train("torch.nn.Linear(3, 1)")}).empty());
  CHECK(reads({training, train("torch.nn.Linear(3, 1, dtype=torch.double)")}).empty());
  for (const char* model : {"torch.nn.Linear(3, 1).cuda()", "torch.nn.Linear(3, 1, device=where)",
                            "torch.nn.Linear(3, 1).to('cuda:0')",
                            "torch.nn.Linear(3, 1).type(torch.cuda.FloatTensor)"}) {
    CAPTURE(std::string(model));
    CHECK(reads({training, train(model)}) == "training.py:6");
  }
  // Without a program somebody else may bring the device.
  CHECK(reads({training}) == "training.py:6");
  CHECK(reads({training, train("torch.nn.Linear(3, 1)"), {"run.py", "", "import jax\n"}}) ==
        "training.py:6");
}

TEST_CASE("of several programs those that name no device stay on the host") {
  const auto program = [](const std::string& path, const std::string& model,
                          const std::string& import) {
    return SourceInput{path, "",
                       "import torch\n" + import +
                           "def main():\n"
                           "    model = " +
                           model +
                           "\n"
                           "    for x in batches:\n"
                           "        loss = model(x).mean()\n"
                           "        loss.backward()\n"
                           "        print(loss.item())\n"
                           "if __name__ == '__main__':\n"
                           "    main()\n"};
  };
  const SourceInput on_device = program("gpu/train.py", "Net().cuda()", "");
  const std::string host = "torch.nn.Linear(3, 1)";
  const std::string found = "gpu/train.py:7";
  CHECK(reads({on_device, program("cpu/train.py", host, "")}) == found);
  // What is in one folder belongs together, and so does what is imported.
  CHECK(reads({on_device, program("gpu/other.py", host, "")}) == "gpu/other.py:7 " + found);
  CHECK(reads({on_device, program("cpu/train.py", host, "from gpu.train import main\n")}) ==
        "cpu/train.py:8 " + found);
  // Of several modules the nearest is meant.
  const SourceInput places{"gpu/places.py", "", "import torch\ndevice = torch.device('cuda')\n"};
  const SourceInput own{"cpu/places.py", "", "import torch\nwidth = 3\n"};
  CHECK(reads({on_device, places, own,
               program("cpu/train.py", host, "from places import width\n")}) == found);
  // A configuration beside it may name one, and a type may be that of a device.
  CHECK(reads({on_device,
               program("cpu/train.py", host, ""),
               {"cpu/run.yaml", "", "device: cuda\n"}}) == "cpu/train.py:7 " + found);
  CHECK(reads({on_device, program("cpu/train.py", host + ".to(dtype)", "")}) ==
        "cpu/train.py:7 " + found);
}

TEST_CASE("a program that chooses a device for all that it makes moves nothing there") {
  SourceClause clause;
  clause.calls = {".to"};
  clause.on = "fresh-tensor";
  clause.certainty = "likely";
  clause.contexts = {"step", "forward"};
  const RuleSet rules = clause_rule(std::move(clause), {"python"});
  const SourceInput net{"net.py", "",
                        "import torch\n"
                        "class Net(torch.nn.Module):\n"
                        "    def forward(self, x):\n"
                        "        return x + torch.arange(3).to(x.device)\n"};
  const auto train = [](const std::string& path, const std::string& first) {
    return SourceInput{path, "",
                       "import torch\nfrom net import Net\n"
                       "def train(batches):\n"
                       "    for x in batches:\n"
                       "        Net()(x).sum().backward()\n"
                       "if __name__ == '__main__':\n" +
                           first + "    train(load())\n"};
  };
  const std::string choice = "    torch.set_default_device('cuda')\n";
  CHECK(places(rules, {net, train("train.py", "")}) == "net.py:4");
  CHECK(places(rules, {net, train("train.py", choice)}).empty());
  CHECK(places(rules, {net, train("train.py", choice), train("other.py", "")}) == "net.py:4");
}

TEST_CASE("gradients below inference/ that nothing steps with guide what is inferred") {
  const auto refines = [](const std::string& first) {
    return "import torch\n"
           "class Refinement:\n"
           "    def __call__(self, x, optimizer):\n"
           "        loss = self.loss(self.predict(x))\n" +
           first +
           "        loss.backward()\n"
           "        return loss.item()\n";
  };
  const std::string guides = refines(""), trains = refines("        optimizer.zero_grad()\n");
  CHECK(reads({{"inference/clicks.py", "", guides}}).empty());
  CHECK(reads({{"net/inference/clicks.py", "", guides}}).empty());
  CHECK(reads({{"net/inference/clicks.py", "", trains}}) == "net/inference/clicks.py:7");
  CHECK(reads({{"net/clicks.py", "", guides}}) == "net/clicks.py:6");
}

TEST_CASE("the forward pass of a server's own model is none of training") {
  const auto serves = [](const std::string& import, const std::string& more) {
    return SourceInput{"game.py", "",
                       "import torch\nfrom torch import nn\nfrom " + import +
                           "\nclass Net(nn.Module):\n"
                           "    def forward(self, x):\n"
                           "        return x / x.sum().item()\n" +
                           more};
  };
  CHECK(reads({serves("flask import Flask", "")}).empty());
  CHECK(reads({serves("flask import Flask", "def train(net):\n    net.train()\n")}) == "game.py:6");
  CHECK(reads({serves("typing import Any", "")}) == "game.py:6");
}

TEST_CASE("a module below inference/ runs what it calls for those who ask it") {
  const std::string helper =
      "import torch\ndef first_of(mask):\n    return mask.argmax(1).max().item()\n";
  const std::string model =
      "import torch\nfrom torch import nn\nfrom helper import first_of\n"
      "class Asked(nn.Module):\n"
      "    def forward(self, ids, mask):\n"
      "        return self.model(ids[:, first_of(mask):])\n";
  const SourceInput helps{"helper.py", "", helper};
  CHECK(reads({helps, {"net/inference/asked.py", "", model}}).empty());
  CHECK(reads({helps, {"net/model/asked.py", "", model}}) == "helper.py:3");
  CHECK(reads({helps, {"net/inference/asked.py", "", model}, {"net/model/asked.py", "", model}}) ==
        "helper.py:3");
}

TEST_CASE("exists(x) asks what `x is not None` asks") {
  const auto module = [](const std::string& condition) {
    return "import torch\nfrom torch import nn\n"
           "def exists(x):\n    return x is not None\n"
           "class Net(nn.Module):\n"
           "    def forward(self, x):\n"
           "        return x * self.scale(x)\n"
           "    def scale(self, x):\n"
           "        if " +
           condition +
           ":\n"
           "            return self.kept\n"
           "        self.kept = x.sum().item()\n"
           "        return self.kept\n";
  };
  const RuleSet rules = items_unless("forward", "cached");
  CHECK(places(rules, {{"net.py", "", module("self.kept is not None")}}).empty());
  CHECK(places(rules, {{"net.py", "", module("exists(self.kept)")}}).empty());
  CHECK(places(rules, {{"net.py", "", module("wanted(self.kept)")}}) == "net.py:11");
}

TEST_CASE("a method that answers True every so many steps is an interval") {
  const RuleSet rules = items_unless("step", "guarded-by-interval");
  const auto found = [&](const std::string& condition) {
    const std::string definitions =
        "def due(step):\n    if " + condition + ":\n        return True\n    return False\n";
    return places(
        rules, {{"train.py", "",
                 program(definitions, "        if due(step):\n            print(loss.item())\n")}});
  };
  CHECK(found("step % 100 == 0").empty());
  CHECK(found("step > 100") == "train.py:12");
}

TEST_CASE("what a loop over steps does before it is left happens once") {
  const RuleSet rules = items_unless("step", "guarded-by-interval");
  const auto found = [&](const std::string& body, const std::string& definitions = "") {
    return places(rules, {{"train.py", "", program(definitions, body)}});
  };
  const std::string read = "            print(loss.item())\n";
  CHECK(found("        if step > last:\n" + read) == "train.py:8");
  CHECK(found("        if step > last:\n" + read + "            break\n").empty());
  CHECK(found("        if step > last:\n" + read + "            return loss\n").empty());
  CHECK(found("        if step < last:\n            continue\n        else:\n" + read +
              "            break\n")
            .empty());
  CHECK(found("        if step > last:\n" + read + "            continue\n") == "train.py:8");
  // A loop inside the step is left in each.
  CHECK(found("        for part in parts:\n            if part.ok:\n    " + read +
              "                break\n") == "train.py:9");
  // What it calls there happens once too.
  CHECK(found("        if step > last:\n            report(loss)\n            break\n",
              "def report(loss):\n    print(loss.item())\n")
            .empty());
  // An attempt that succeeded is the step itself.
  CHECK(found("        if fits(loss):\n" + read +
              "            optimizer.step()\n            break\n") == "train.py:8");
}

TEST_CASE("what is only shown every so many steps may clear gradients there") {
  const RuleSet rules = items_unless("step", "guarded-by-interval");
  const auto found = [&](const std::string& every) {
    return places(rules, {{"train.py", "",
                           program("", "        if step % " + every +
                                           " == 0:\n            optimizer.zero_grad()\n"
                                           "            print(loss.item())\n")}});
  };
  CHECK(found("self.disp_freq").empty());
  CHECK(found("self.every") == "train.py:9");
}

TEST_CASE("what trainers that are modules keep of themselves stays on the host") {
  const auto code = [](const std::string& name) {
    return "import torch\nfrom torch import nn\n"
           "class " +
           name +
           "(nn.Module):\n"
           "    def __init__(self):\n"
           "        self.register_buffer('steps', torch.zeros(1))\n"
           "    def train_step(self, loss, optimizer):\n"
           "        loss.backward()\n"
           "        optimizer.step()\n"
           "        self.steps.item()\n";
  };
  CHECK(reads({{"train.py", "", code("Model")}}) == "train.py:9");
  CHECK(reads({{"train.py", "", code("VoiceTrainer")}}).empty());
}

TEST_CASE("neither scripts that assert nor constructors are steps") {
  const std::string read = "        print(loss.item())\n";
  CHECK(reads({{"train.py", "", program("", read)}}) == "train.py:7");
  const RuleSet rules = items_unless("step", "test-or-benchmark");
  CHECK(places(rules, {{"train.py", "", program("", read)}}) == "train.py:7");
  CHECK(places(rules, {{"assert_flash.py", "", program("", read)}}).empty());
  const auto solver = [](const std::string& name) {
    return "import jax\n"
           "class Solver:\n"
           "    def " +
           name +
           "(self, x):\n"
           "        self.grads = jax.value_and_grad(self.fun)(x)\n"
           "        x.item()\n";
  };
  CHECK(reads({{"solver.py", "", solver("__post_init__")}}).empty());
}

TEST_CASE("under DataParallel forward() finds its batch on the device") {
  SourceClause clause;
  clause.calls = {".cuda"};
  clause.on = "batch";
  clause.contexts = {"forward"};
  const RuleSet rules = clause_rule(clause);
  const auto found = [&](const std::string& made) {
    return places(rules, {{"train.py", "",
                           "import torch\nfrom torch import nn\n"
                           "class Net(nn.Module):\n"
                           "    def forward(self, data):\n"
                           "        return self.layer(data['image'].cuda())\n"
                           "def main(loader, optimizer):\n"
                           "    net = " +
                               made +
                               "\n"
                               "    for data in loader:\n"
                               "        net(data).mean().backward()\n"
                               "        optimizer.step()\n"}});
  };
  CHECK(found("Net()") == "train.py:5");
  CHECK(found("nn.DataParallel(Net())").empty());
}

TEST_CASE("a folder for evaluation holds no forward passes of training") {
  const std::string model =
      "import torch\nfrom torch import nn\n"
      "class Net(nn.Module):\n"
      "    def forward(self, x):\n"
      "        return x / x.sum().item()\n";
  CHECK(reads({{"models/net.py", "", model}}) == "models/net.py:5");
  CHECK(reads({{"evaluation/net.py", "", model}}).empty());
  CHECK(reads({{"models/inferencev2.py", "", model}}).empty());
}

TEST_CASE("what goes backward below inference/ infers by training") {
  const auto fits = [](const std::string& update) {
    return SourceInput{"include/inference/value.h", "",
                       "#include <torch/torch.h>\n"
                       "void fit(Loader& loader) {\n"
                       "  for (auto& batch : loader) {\n"
                       "    auto loss = model->forward(batch.data).mean();\n" +
                           update +
                           "    optimizer->step();\n"
                           "    total += loss.item<float>();\n"
                           "  }\n"
                           "}\n"};
  };
  CHECK(reads({fits("    loss.backward();\n")}) == "include/inference/value.h:7");
  CHECK(reads({fits("")}).empty());
}

TEST_CASE("forward() without gradients that works on its own output generates") {
  const auto sampler = [](const std::string& decorator, const std::string& line) {
    return "import torch\nfrom torch import nn\n"
           "class Walk(nn.Module):\n"
           "    " +
           decorator +
           "\n"
           "    def forward(self, x, steps):\n"
           "        for i in range(steps):\n"
           "            v = self.net(x, i)\n"
           "            " +
           line +
           "\n"
           "            x.mean().item()\n"
           "        return x\n"
           "def fit_once(x, optimizer):\n"
           "    Walk()(x).backward()\n"
           "    optimizer.step()\n";
  };
  CHECK(reads({{"walk.py", "", sampler("@torch.no_grad()", "x = x - v")}}).empty());
  CHECK(reads({{"walk.py", "", sampler("@torch.no_grad()", "y = x - v")}}) == "walk.py:9");
  CHECK(reads({{"walk.py", "", sampler("@typed", "x = x - v")}}) == "walk.py:9");
}

TEST_CASE("neither a solver of equations nor what makes samples of a diffusion trains") {
  const auto stepper = [](const std::string& arguments) {
    return "import torch\n"
           "class Flow:\n"
           "    def advance(self, x, out):\n"
           "        x.mean().item()\n"
           "        return self.solver_p.step(" +
           arguments + ")\n";
  };
  CHECK(reads({{"flow.py", "", stepper("")}}) == "flow.py:4");
  CHECK(reads({{"flow.py", "", stepper("out, x")}}).empty());

  const auto denoiser = [](const std::string& name) {
    return "import torch\nfrom torch import nn\n"
           "class " +
           name +
           ":\n"
           "    def sample_steps(self, x):\n"
           "        return x.mean().item()\n"
           "class Net(nn.Module):\n"
           "    def __init__(self):\n"
           "        self.sampler = " +
           name +
           "()\n"
           "    def forward(self, x):\n"
           "        return self.sampler.sample_steps(x)\n";
  };
  CHECK(reads({{"net.py", "", denoiser("PixelSampler")}}) == "net.py:5");
  CHECK(reads({{"net.py", "", denoiser("DDIMSampler")}}).empty());
}

TEST_CASE("the trial of a file that others import is no training") {
  const std::string library =
      "import torch\n"
      "class Scaler:\n"
      "    pass\n"
      "for x in batches:\n"
      "    loss = model(x)\n"
      "    loss.backward()\n"
      "    optimizer.step()\n"
      "    loss.item()\n";
  const std::string user = "import torch\nfrom scaler import Scaler\n";
  const RuleSet rules = items_unless("step", "no-visible-caller");
  CHECK(places(rules, {{"scaler.py", "", library}}) == "scaler.py:8");
  CHECK(places(rules, {{"scaler.py", "", library}, {"fp16.py", "", user}}).empty());
}

TEST_CASE("what is only made to evaluate runs in no forward pass of training") {
  const auto found = [](const std::string& made) {
    return reads({{"net.py", "",
                   program("from torch import nn\n"
                           "class Detect(nn.Module):\n"
                           "    def __init__(self, classes):\n"
                           "        super().__init__()\n"
                           "    def forward(self, x):\n"
                           "        return x[: x.sum().item()]\n"
                           "class Net(nn.Module):\n"
                           "    def __init__(self, phase):\n"
                           "        super().__init__()\n" +
                               made +
                               "    def forward(self, x):\n"
                               "        return self.detect(x)\n",
                           "")}});
  };
  CHECK(found("        self.detect = Detect(20)\n") == "net.py:7");
  CHECK(found("        if phase == 'test':\n            self.detect = Detect(20)\n").empty());
  CHECK(found("        if phase == 'train':\n            self.detect = Detect(20)\n") ==
        "net.py:7");
}

TEST_CASE(
    "what a program of C++ does beside its steps, and without a device, is lowered for that") {
  const auto train = [](const std::string& place) {
    return SourceInput{"train.cpp", "",
                       "#include <torch/torch.h>\n"
                       "int main() {\n"
                       "  Net net;\n" +
                           place +
                           "  for (auto& batch : *loader) {\n"
                           "    auto loss = net.forward(batch.data).mean();\n"
                           "    loss.backward();\n"
                           "    optimizer.step();\n"
                           "    total += loss.item<float>();\n"
                           "  }\n"
                           "}\n"};
  };
  CHECK(lowered({train("")}, kNoDevice));
  CHECK(!lowered({train("  net.to(torch::kCUDA);\n")}, kNoDevice));
  CHECK(!lowered({train(""), {"kernels.cu", "", "__global__ void add(float* x) {}\n"}}, kNoDevice));

  const SourceInput pack{"pack.cu", "",
                         "#include <torch/torch.h>\n"
                         "torch::Tensor pack(const torch::Tensor& lengths) {\n"
                         "  pack_kernel<<<64, 256>>>(lengths.data_ptr<int>());\n"
                         "  return torch::empty({lengths.sum().item<int>()});\n"
                         "}\n"};
  const SourceInput shows{"show.cpp", "", "#include <torch/torch.h>\nint main() { pack_all(); }\n"};
  CHECK(!lowered({pack}, kUnreached));  // a library's, for its users to call
  CHECK(lowered({pack, shows}, kUnreached));
  SourceInput example = shows;
  example.path = "examples/show.cpp";
  CHECK(!lowered({pack, example}, kUnreached));
}

TEST_CASE("a copy of a program, and what its steps call to end it, are judged as such") {
  const auto step = [](const std::string& body) {
    return "#include <torch/torch.h>\n"
           "void stop(torch::Tensor x) { total = x.item<float>(); }\n"
           "void exit_simulation(torch::Tensor x) { stop(x); }\n"
           "void train_step(torch::Tensor x) {\n"
           "  auto loss = net(x.to(torch::kCUDA)).mean();\n"
           "  loss.backward();\n"
           "  optimizer.step();\n" +
           body + "}\n";
  };
  CHECK(reads({{"train.cpp", "", step("  stop(loss);\n")}}) == "train.cpp:2");
  CHECK(reads({{"train.cpp", "", step("  if (bad) exit_simulation(loss);\n")}}).empty());

  const auto is_spare = [&](const std::string& path) {
    return lowered({{path, "", step("  stop(loss);\n")}}, kSpare);
  };
  for (const char* path : {"main (copy).cpp", "src/train_old.cpp", "backup/train.cpp",
                           "a/deprecated/b.cpp", ".deprecated/src/b.cpp", "a/legacy2/b.cpp"})
    CHECK_MESSAGE(is_spare(path), path);
  for (const char* path : {"main.cpp", "src/copy_kernels.cpp", "threshold.cpp", "bold/train.cpp"})
    CHECK_MESSAGE(!is_spare(path), path);
}
