// Whose methods a call runs: classes by file, bases, and what other functions hand in.
#include <doctest/doctest.h>

#include <string>

#include "source/in_step.h"

using namespace stallscope;

namespace {

/// A loop over batches that runs `in_loop` in each step, behind `before`.
std::string trainer(const std::string& imports, const std::string& before,
                    const std::string& in_loop) {
  return imports +
         "def train(model, opt, loader, meter=None):\n"
         "    " +
         before +
         "\n"
         "    for x in loader:\n"
         "        loss = model(x).mean()\n"
         "        loss.backward()\n"
         "        opt.step()\n"
         "        " +
         in_loop + "\n";
}

/// A class whose method reads what it is given, in line 3.
std::string reader(const std::string& head, const std::string& method) {
  return head + ":\n    def " + method + "(self, loss):\n        return loss.sum().item()\n";
}

}  // namespace

TEST_CASE("scripts side by side each have their own class of a name") {
  const auto script = [](const std::string& in_loop) {
    return reader("class Meter", "add") + trainer("", "meter = Meter()", in_loop);
  };
  CHECK(in_step({{"a.py", script("meter.add(loss)")}, {"b.py", script("meter.note(loss)")}}) ==
        "a.py:3");
  // What a file imports is meant, under any name of its package.
  const std::string user =
      trainer("from p.one import Meter\n", "meter = Meter()", "meter.add(loss)");
  CHECK(in_step({{"p/one.py", reader("class Meter", "add")},
                 {"p/two.py", reader("class Meter", "add")},
                 {"train.py", user}}) == "p/one.py:3");
  const std::string star = trainer("from p.two import *\n", "meter = Meter()", "meter.add(loss)");
  CHECK(in_step({{"p/one.py", reader("class Meter", "add")},
                 {"p/two.py", reader("class Meter", "add")},
                 {"train.py", star}}) == "p/two.py:3");
}

TEST_CASE("methods come from any base, from beside a mixin, and super() leaves the class out") {
  const std::string made = trainer("from net import Both\n", "meter = Both()", "meter.add(loss)");
  CHECK(in_step({{"net.py", "class First:\n    pass\n" + reader("class Last", "add") +
                                "class Both(First, Last):\n    pass\n"},
                 {"train.py", made}}) == "net.py:5");
  CHECK(in_step(
            {{"net.py", "class Mixin:\n    def add(self, loss):\n        return self.read(loss)\n" +
                            reader("class Last", "read") + "class Both(Mixin, Last):\n    pass\n"},
             {"train.py", made}}) == "net.py:6");
  CHECK(in_step({{"net.py", reader("class Base", "add") +
                                "class Both(Base):\n    def add(self, loss):\n"
                                "        return super().add(loss)\n"},
                 {"train.py", made}}) == "net.py:3");
}

TEST_CASE("an object keeps its class when a function makes it or hands it on") {
  const std::string meters = reader("class Meter", "update") + reader("class Other", "update") +
                             "def make():\n    return Meter()\n";
  // update() is too common a name to say anything by itself.
  CHECK(in_step({{"m.py", meters}, {"t.py", trainer("", "pass", "model.update(loss)")}}).empty());
  CHECK(in_step({{"m.py", meters},
                 {"t.py", trainer("from m import make\n", "m = make()", "m.update(loss)")}}) ==
        "m.py:3");
  CHECK(in_step({{"m.py", meters},
                 {"t.py", trainer("", "pass", "meter.update(loss)")},
                 {"main.py",
                  "from m import Other\nfrom t import train\n"
                  "train(None, None, None, meter=Other())\n"}}) == "m.py:6");
  // An annotation says it, too.
  std::string annotated = trainer("from m import Meter\n", "pass", "meter.update(loss)");
  annotated.replace(annotated.find("meter=None"), 10, "meter: Optional[Meter] = None");
  CHECK(in_step({{"m.py", meters}, {"t.py", annotated}}) == "m.py:3");
}

TEST_CASE("an object that is called runs its class's __call__()") {
  const std::string meters = reader("class Meter", "__call__") + reader("class Other", "__call__");
  CHECK(in_step({{"m.py", meters},
                 {"t.py", trainer("from m import Meter\n", "m = Meter()", "m(loss)")}}) ==
        "m.py:3");
  CHECK(in_step({{"m.py", meters},
                 {"t.py", trainer("", "pass", "meter(loss)")},
                 {"main.py",
                  "from m import Other\nfrom t import train\n"
                  "train(None, None, None, Other())\n"}}) == "m.py:6");
  CHECK(in_step({{"m.py", meters}, {"t.py", trainer("", "pass", "meter(loss)")}}).empty());
}

TEST_CASE("a class that makes other objects says nothing of what it makes") {
  const std::string net = "class Net:\n    def __new__(cls, kind):\n        return pick(kind)\n" +
                          reader("class Deep", "read_out") + "kinds = {1: Deep}\n";
  CHECK(in_step({{"net.py", net},
                 {"t.py", trainer("from net import Net\n", "m = Net(1)", "m.read_out(loss)")}}) ==
        "net.py:6");
}

TEST_CASE("what a decorator wraps around a function runs when the function does") {
  const std::string tools =
      "def checked(fn):\n    def wrapper(*args):\n        return fn(*args).sum().item()\n"
      "    return wrapper\n"
      "def named(name):\n    def wrap(fn):\n        def wrapper(*args):\n"
      "            return fn(*args).sum().item()\n        return wrapper\n    return wrap\n";
  const auto decorated = [&](const std::string& decorator) {
    return in_step({{"tools.py", tools},
                    {"t.py", "from tools import checked, named\n" + decorator +
                                 "def measure(loss):\n    return loss * 2\n" +
                                 trainer("", "pass", "measure(loss)")}});
  };
  CHECK(decorated("@checked\n") == "tools.py:3");
  CHECK(decorated("@named('loss')\n") == "tools.py:8");
  CHECK(decorated("").empty());
}

TEST_CASE("getattr() with a name put together runs the methods of that beginning") {
  const auto module = [](const std::string& asked) {
    return "class Base(torch.nn.Module):\n"
           "    def loss(self, x, mode):\n"
           "        return getattr(self, " +
           asked +
           ")(x)\n"
           "class Net(Base):\n"
           "    def loss_train(self, x):\n"
           "        return x.sum().item()\n"
           "    def lose(self, x):\n"
           "        return x.sum().item()\n"
           "net = Net()\n" +
           trainer("", "net = Net()", "net.loss(loss, 'train')");
  };
  for (const char* asked : {"'loss_' + mode", "f'loss_{mode}'", "\"loss_%s\" % mode"})
    CHECK(in_step({{"net.py", module(asked)}}) == "net.py:6");
  for (const char* asked : {"mode", "'l' + mode", "'lost_' + mode"})
    CHECK(in_step({{"net.py", module(asked)}}).empty());
}

TEST_CASE("with runs what its object's class enters and leaves") {
  const std::string region =
      "class Region:\n"
      "    def __init__(self, name):\n"
      "        self.name = name\n"
      "    def __enter__(self):\n"
      "        self.seen = self.count.sum().item()\n"
      "    def __exit__(self, *error):\n"
      "        self.seen = self.count.sum().item()\n";
  CHECK(in_step({{"region.py", region},
                 {"train.py", trainer("from region import Region\n", "pass",
                                      "with Region('loss'): pass")}}) == "region.py:5 region.py:7");
  CHECK(in_step({{"region.py", region},
                 {"train.py",
                  trainer("from region import Region\n", "with Region('all'): pass", "pass")}})
            .empty());
}

TEST_CASE("reading a property runs it, reading another attribute of the name runs nothing") {
  const auto scale = [](const std::string& decorator) {
    return "class Scale:\n"
           "    " +
           decorator +
           "\n"
           "    def value(self):\n"
           "        return self.total.sum().item()\n";
  };
  const auto reads = trainer("from scale import Scale\n", "scale = Scale()", "x = scale.value");
  CHECK(in_step({{"scale.py", scale("@property")}, {"train.py", reads}}) == "scale.py:4");
  CHECK(in_step({{"scale.py", scale("# no decorator")}, {"train.py", reads}}).empty());
}

TEST_CASE("a base with arguments is the base, and what overrides one method of it may be called") {
  const std::string base =
      "class Base(Generic[T]):\n"
      "    def step(self, loss):\n"
      "        self.after(loss)\n"
      "    def after(self, loss):\n"
      "        pass\n";
  CHECK(in_step({{"own.py", base + reader("class Own(Base[int])", "after") +
                                trainer("", "own = Own()", "own.step(loss)")}}) == "own.py:8");
  std::string many = base;
  for (const char* name : {"A", "B", "C", "D", "E"})
    many += reader("class " + std::string(name) + "(Base)", "after");
  CHECK(in_step({{"many.py", many + trainer("", "pass", "for m in meter: m.after(loss)")}}) ==
        "many.py:11 many.py:14 many.py:17 many.py:20 many.py:8");
}

TEST_CASE(
    "a common name of what is done runs the methods of classes that the object is called after") {
  std::string many;
  for (const char* name : {"Accuracy(Metric)", "Recall(Metric)", "Timer", "Pool", "Scheduler"})
    many += reader("class " + std::string(name), "update");
  const auto calls = [&](const std::string& in_loop) {
    return in_step({{"many.py", "class Metric:\n    pass\n" + many},
                    {"train.py", trainer("", "pass", in_loop)}});
  };
  CHECK(calls("for name, m in self.metrics.items(): m.update(loss)") == "many.py:5 many.py:8");
  CHECK(calls("metric.update(loss)") == "many.py:5 many.py:8");
  CHECK(calls("for i, m in enumerate(self.timers): m.update(loss)") == "many.py:11");
  CHECK(calls("meter.update(loss)").empty());
  CHECK(calls("metric.update(loss, 3)").empty());  // takes one
}

TEST_CASE("a loader that is handed in runs its own __iter__, whatever makes it") {
  const std::string batches =
      "class Stream:\n"
      "    @classmethod\n"
      "    def of(cls, data):\n"
      "        return cls(data)\n"
      "    def __iter__(self):\n"
      "        for x in self.data:\n"
      "            yield x.sum().item()\n"
      "    def next_batch(self):\n"
      "        return self.data.max().item()\n"
      "def make(data):\n"
      "    return Stream.of(data)\n";
  const auto given = [&](const std::string& made, const std::string& in_loop = "pass") {
    return in_step({{"data.py", batches},
                    {"train.py",
                     "from data import *\n"
                     "def train(model, opt, train_loader):\n"
                     "    for x in train_loader:\n"
                     "        " +
                         in_loop +
                         "\n"
                         "        model(x).mean().backward()\n"
                         "        opt.step()\n"
                         "def main(model, opt, data):\n"
                         "    train(model, opt, " +
                         made + ")\n"}});
  };
  CHECK(given("Stream(data)") == "data.py:7");
  CHECK(given("make(data)") == "data.py:7");
  CHECK(given("make(data)", "y = train_loader.next_batch()") == "data.py:7 data.py:9");
  CHECK(given("data").empty());
}

TEST_CASE("functions in a list run with the loop over it, a lambda where its name is called") {
  const std::string reads = "def read(x):\n    return x.sum().item()\n";
  const auto run = [&](const std::string& before, const std::string& in_loop) {
    return in_step({{"train.py", reads + trainer("", before, in_loop)}});
  };
  CHECK(run("all = [read]", "for f in all: f(loss)") == "train.py:2");
  CHECK(run("all = {'r': read}", "for n, f in all.items(): f(loss)") == "train.py:2");
  CHECK(run("all = [read]", "pass").empty());
  CHECK(run("score = lambda x: x.mean().item()", "score(loss)") == "train.py:4");
  CHECK(run("score = lambda x: x.mean().item()", "pass").empty());
}

TEST_CASE("hooks are functions with arguments fixed, and what makes them or is called by them") {
  const auto hooked = [](const std::string& handed) {
    const std::string net =
        "import torch\n"
        "from functools import partial\n"
        "def keep(store, module, given, out):\n"
        "    store['x'] = out.sum().item()\n"
        "def make_hook(store):\n"
        "    def hook(module, given, out):\n"
        "        store['y'] = out.sum().item()\n"
        "    return hook\n"
        "def watch(model, store):\n"
        "    model.register_forward_hook(" +
        handed + ")\n";
    const std::vector<SourceInput> inputs = {{"net.py", "", net}};
    std::vector<std::string> out;
    for (const SourceFact& fact : SourceIndex::build(inputs, item_rule({"forward"}), {}).facts())
      out.push_back(std::to_string(fact.first_line));
    return sorted_in_line(std::move(out));
  };
  CHECK(hooked("partial(keep, store)") == "4");
  CHECK(hooked("make_hook(store)") == "7");
  CHECK(hooked("lambda m, i, o: keep(store, m, i, o)") == "4");
  CHECK(hooked("None").empty());
}

TEST_CASE("what packs and unpacks saved tensors is a hook") {
  const auto packed = [](const std::string& handed) {
    return places(item_rule({"forward"}),
                  {{"a.py", "",
                    "import torch\n"
                    "class Offload:\n"
                    "    def pack(self, t):\n"
                    "        return t.max().item()\n"
                    "    def unpack(self, t):\n"
                    "        return t.min().item()\n"
                    "    def saving(self):\n"
                    "        return torch.autograd.graph.saved_tensors_hooks(" +
                        handed + ")\n"}});
  };
  CHECK(packed("self.pack, self.unpack") == "a.py:4 a.py:6");
  CHECK(packed("unpack_hook=self.unpack, pack_hook=len") == "a.py:6");
  CHECK(packed("partial(self.pack, 3), lambda t: self.unpack(t)") == "a.py:4 a.py:6");
  CHECK(packed("len, len").empty());
}

TEST_CASE("a hook runs in each pass, a partial function when it is called") {
  const std::string net =
      "class Net(torch.nn.Module):\n"
      "    def __init__(self):\n"
      "        self.body.register_forward_hook(self._keep)\n"
      "    def _keep(self, module, given, out):\n"
      "        self.seen = out.sum().item()\n"
      "    def _unused(self, module, given, out):\n"
      "        self.seen = out.sum().item()\n";
  const RuleSet rules = item_rule({"forward"});
  const std::vector<SourceInput> inputs = {{"net.py", "", "import torch\n" + net}};
  const SourceIndex index = SourceIndex::build(inputs, rules, {});
  REQUIRE(index.facts().size() == 1);
  CHECK(index.facts()[0].first_line == 6);

  const std::string weigh = "def weigh(x, scale):\n    return x * x.sum().item() * scale\n";
  const auto made = [&](const std::string& arguments) {
    return weigh + trainer("import functools\n", "fn = functools.partial(" + arguments + ")",
                           "y = fn(loss)");
  };
  CHECK(in_step({{"train.py", made("weigh, scale=2")}}) == "train.py:2");
  CHECK(in_step({{"train.py", made("other, scale=2")}}).empty());
}

TEST_CASE("a base's method does not run those of a class that has another in its place") {
  const auto layers = [](const std::string& own) {
    return "class Layer:\n"
           "    def add(self, loss):\n        self.read(loss)\n"
           "class Part(Layer):\n"
           "    def read(self, loss):\n        return loss.sum().item()\n" +
           own;
  };
  const auto found = [&](const std::string& own) {
    const std::string made = trainer("from net import Layer, Part\n",
                                     "meter = Layer()\n    other = Part()", "meter.add(loss)");
    return in_step({{"net.py", layers(own)}, {"train.py", made}});
  };
  CHECK(found("") == "net.py:6");
  CHECK(found("    def add(self, loss):\n        self.kept = loss\n").empty());
  CHECK(found("    def add(self, loss):\n        super().add(loss)\n") == "net.py:6");
}

TEST_CASE("of many agents without a base, a method that takes a step in each is followed in all") {
  const auto agents = [](int count, const std::string& last) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      out += "class Ddpg" + std::to_string(i) +
             ":\n    def train_policy(self, x):\n        loss = self.net(x).mean()\n        " +
             (i + 1 < count ? "loss.backward()\n        self.optimizer.step()\n" : last) +
             "        return loss\n";
    }
    return out;
  };
  const auto found = [&](int count, const std::string& last) {
    return in_step({{"agents.py", agents(count, last)},
                    {"train.py",
                     "def run(agent, memory):\n"
                     "    for _ in range(100):\n"
                     "        loss = agent.train_policy(memory.sample())\n"
                     "        total = loss.item()\n"}});
  };
  const std::string update = "loss.backward()\n        self.optimizer.step()\n";
  CHECK(found(2, update) == "train.py:4");
  CHECK(found(9, update) == "train.py:4");
  CHECK(found(9, "pass\n").empty());
}

TEST_CASE("in C++ what a class declares says whose methods its own call, in whatever file") {
  const auto scale = [](const std::string& klass) {
    return "void " + klass + "::scale(torch::Tensor y) { double a = y.item<double>(); }\n";
  };
  const auto found = [&](const std::string& fields) {
    return in_step({{"matrix.cpp", scale("Matrix")},
                    {"vector.cpp", scale("Vector")},
                    {"net.h",
                     "class Matrix { void scale(torch::Tensor y); };\n"
                     "class Vector { void scale(torch::Tensor y); };\n"
                     "class Net {\n  void update(torch::Tensor loss);\n" +
                         fields + "};\n"},
                    {"net.cpp", "void Net::update(torch::Tensor loss) { weights_.scale(loss); }\n"},
                    {"main.cpp",
                     "void train(Net& net, torch::optim::SGD& sgd, Loader& loader) {\n"
                     "  for (auto& batch : *loader) {\n"
                     "    auto loss = net.forward(batch.data);\n"
                     "    loss.backward();\n    sgd.step();\n    net.update(loss);\n  }\n}\n"}});
  };
  CHECK(found("") == "matrix.cpp:1 vector.cpp:1");
  CHECK(found("  Matrix weights_;\n  Vector bias_;\n") == "matrix.cpp:1");
  CHECK(found("  std::vector<std::unique_ptr<Vector>> weights_;\n") == "vector.cpp:1");
}
