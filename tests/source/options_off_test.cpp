// What runs only where an option is on that nothing in the project turns on.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "source/extract/named_values.h"
#include "source/item_rule.h"
#include "source/names/mentions.h"

namespace stallscope {
namespace {

/// "file:line" of each finding; those under options that are off with a '-' in front.
std::string lowered_places(const std::vector<SourceInput>& files) {
  const RuleSet rules = item_rule({"step", "forward"});
  const SourceIndex index = SourceIndex::build(files, rules, {});
  std::string out;
  for (const SourceFact& fact : index.facts()) {
    const bool off = std::ranges::find(fact.guards, "option-off") != fact.guards.end();
    out += (out.empty() ? "" : " ") + std::string(off ? "-" : "") + fact.file + ":" +
           std::to_string(fact.first_line);
  }
  return out;
}

/// A step in whose loop `body` runs, indented by four.
std::string step_with(const std::string& head, const std::string& body) {
  return "import torch\n" + head +
         "for x, y in loader:\n"
         "    loss = criterion(model(x), y)\n"
         "    loss.backward()\n"
         "    optimizer.step()\n" +
         body;
}

/// The kind of what a text gives `name`: "off", "literal 3 ..."; joined by blanks.
std::string given(const std::string& text, const std::string& name,
                  Notation notation = Notation::python) {
  std::vector<NamedValue> values;
  add_named_values(text, notation, values);
  std::string out;
  for (const NamedValue& value : values) {
    if (value.name != option_hash(name)) continue;
    constexpr const char* kKinds[] = {"none", "off", "literal", "other", "same", "when"};
    out += (out.empty() ? "" : " ") + std::string(kKinds[static_cast<int>(value.kind)]);
  }
  return out;
}

const std::string kUnderArgs = step_with("", "    if args.probe:\n        loss.item()\n");

}  // namespace

TEST_CASE("an option that a parser leaves off, and that nothing turns on, lowers what it guards") {
  const SourceInput train{"train.py", "", kUnderArgs};
  const SourceInput options{"options.py", "",
                            "parser.add_argument('--probe', action='store_true')\n"};
  CHECK(lowered_places({train}) == "train.py:7");
  CHECK(lowered_places({train, options}) == "-train.py:7");
  const SourceInput word{"options.py", "",
                         "parser.add_argument('--probe', type=str, default='false')\n"};
  CHECK(lowered_places({train, word}) == "-train.py:7");
  CHECK(lowered_places({train, options, {"run.sh", "", "python train.py --probe --lr 3\n"}}) ==
        "train.py:7");
  CHECK(lowered_places({train, options, {"README.md", "", "`python train.py --probe`\n"}}) ==
        "train.py:7");
  CHECK(lowered_places({train, options, {"a/conf.yaml", "", "model:\n  probe: true\n"}}) ==
        "train.py:7");
  CHECK(lowered_places({train, options, {"a/conf.yaml", "", "model:\n  probe: false\n"}}) ==
        "-train.py:7");
  CHECK(lowered_places({train, options, {"tests/test_a.py", "", "import torch\nprobe = True\n"}}) ==
        "-train.py:7");
}

TEST_CASE("how a place waits for an option") {
  const auto found = [](const std::string& condition, const std::string& given = "None") {
    return lowered_places({{"a.py", "",
                            step_with("class Config:\n    probe = " + given + "\n",
                                      "    if " + condition + ":\n        loss.item()\n")}});
  };
  CHECK(found("cfg.probe") == "-a.py:9");
  CHECK(found("cfg.probe and x.ok") == "-a.py:9");
  CHECK(found("cfg.probe or x.ok") == "a.py:9");
  CHECK(found("not cfg.probe") == "a.py:9");
  CHECK(found("cfg['probe'] is not None") == "-a.py:9");
  CHECK(found("cfg.get('probe') is not None", "False") == "a.py:9");
  CHECK(found("self.cfg.probe > 0", "0") == "-a.py:9");
  CHECK(found("cfg.probe == 'deep'", "'flat'") == "-a.py:9");
  CHECK(found("cfg.probe == 'flat'", "'flat'") == "a.py:9");
  CHECK(found("cfg.probe == 2.0", "2") == "a.py:9");
  CHECK(found("cfg.probe == True", "False") == "-a.py:9");
  CHECK(found("cfg.probe is not False", "False") == "-a.py:9");
  CHECK(found("cfg.probe == False", "False") == "a.py:9");
  CHECK(found("cfg.probe != 'flat'", "'flat'") == "-a.py:9");
  CHECK(found("cfg.probe > 1", "1") == "-a.py:9");
  CHECK(found("cfg.probe >= 2", "4") == "a.py:9");
  CHECK(found("not cfg.probe > 1", "0") == "a.py:9");
  // Of what is no configuration a library may set it.
  CHECK(found("p.probe is not None") == "a.py:9");
  CHECK(lowered_places({{"a.py", "",
                         step_with("probe = None\n",
                                   "    if probe is None:\n        continue\n"
                                   "    loss.item()\n")}}) == "-a.py:9");
}

TEST_CASE("what is made only where an option is on turns nothing on") {
  const auto found = [](const std::string& made) {
    return lowered_places({{"a.py", "",
                            step_with("class Config:\n    keep = False\n" + made,
                                      "    if self.average:\n        loss.item()\n")}});
  };
  CHECK(found("self.average = Average(net)\n").starts_with("a.py:"));
  CHECK(found("self.average = None\nif cfg.keep:\n    self.average = Average(net)\n")
            .starts_with("-a.py:"));
  CHECK(found("self.average = Average(net) if cfg.keep else None\n").starts_with("-a.py:"));
  CHECK(found("self.average = cfg.keep\nif self.average:\n    self.average = Average(net)\n")
            .starts_with("-a.py:"));
  CHECK(found("if cfg.rank:\n    self.average = Average(net)\n").starts_with("a.py:"));
  CHECK(found("if cfg.keep or cfg.more:\n    self.average = Average(net)\n").starts_with("a.py:"));
  CHECK(found("if cfg.keep:\n    self.average = Average(net)\nmodel = Net(average=build())\n")
            .starts_with("a.py:"));
}

TEST_CASE("a key that a configuration is asked for, and that nothing gives, is off") {
  const auto found = [](const std::string& condition, const std::string& head = "") {
    return lowered_places(
        {{"a.py", "", step_with(head, "    if " + condition + ":\n        loss.item()\n")}});
  };
  CHECK(found("'probe' in cfg") == "-a.py:7");
  CHECK(found("'probe' in cfg and cfg['probe'] == True") == "-a.py:7");
  CHECK(found("'probe' in cfg", "cfg = {'probe': True}\n") == "a.py:8");
  CHECK(found("'probe' in cfg", "cfg = dict(probe=1)\n") == "a.py:8");
  CHECK(found("'probe' not in cfg") == "a.py:7");
  CHECK(found("'probe' in batch") == "a.py:7");
}

TEST_CASE("an option is what all give it, under whichever name") {
  const std::string net =
      "import torch\n"
      "from torch import nn\n"
      "class Net(nn.Module):\n"
      "    def __init__(self, width, maps=False):\n"
      "        super().__init__()\n"
      "        self.maps = maps\n"
      "    def forward(self, x):\n"
      "        if self.maps:\n"
      "            x.sum().item()\n"
      "        return x\n";
  const auto found = [&](const std::string& program) {
    return lowered_places({{"net.py", "", net}, {"main.py", "", "import torch\n" + program}});
  };
  CHECK(found("net = build(maps=args.maps)\n") == "-net.py:9");
  CHECK(found("net = build(maps=args.keep)\nkeep = False\n") == "-net.py:9");
  CHECK(found("net = build(maps=args.keep)\nkeep = True\n") == "net.py:9");
  CHECK(found("net = build(maps=ask())\n") == "net.py:9");
  CHECK(found("net = build(maps=cfg.get('keep', False))\n") == "-net.py:9");
  CHECK(found("cfg.maps, cfg.width = read()\n") == "net.py:9");
  CHECK(found("from net import Net\nnet = Net(3, True)\n").starts_with("net.py:9"));
  CHECK(found("from net import Net\nnet = Net(3, args.keep)\nkeep = 0\n").starts_with("-net.py:9"));
}

TEST_CASE("what is called only where an option is on runs there alone") {
  const auto found = [](const std::string& beside) {
    return lowered_places({{"a.py", "",
                            "import torch\n"
                            "PROBE = False\n"
                            "def measure(loss):\n"
                            "    loss.sum().item()\n" +
                                step_with("", "    if PROBE:\n        measure(loss)\n" + beside)}});
  };
  CHECK(found("") == "-a.py:4");
  CHECK(found("    measure(loss)\n") == "a.py:4");
}

TEST_CASE("methods of a class that is made only where an option is on run there alone") {
  const auto found = [](const std::string& made, const std::string& more = "") {
    return lowered_places({{"a.py", "",
                            "import torch\n"
                            "KEEP = False\n"
                            "class Buffer:\n"
                            "    def __init__(self, size):\n"
                            "        self.size = size\n"
                            "    def sample(self, loss):\n"
                            "        return loss.sum().item()\n" +
                                more + "def train(loader, model, criterion, optimizer):\n" + made +
                                "    for x, y in loader:\n"
                                "        loss = criterion(model(x), y)\n"
                                "        loss.backward()\n"
                                "        optimizer.step()\n"
                                "        buffer.sample(loss)\n"}});
  };
  CHECK(found("    buffer = Buffer(3)\n") == "a.py:7");
  CHECK(found("    buffer = Buffer(3) if KEEP else None\n") == "-a.py:7");
  CHECK(found("    if KEEP:\n        buffer = Buffer(3)\n") == "-a.py:7");
  CHECK(found("    if KEEP:\n        buffer = Buffer(3)\n    other = Buffer(4)\n") == "a.py:7");
  // Another run may choose it.
  CHECK(found("    if KEEP == 'ranked':\n        buffer = Buffer(3)\n") == "a.py:7");
  // What derives from it is made by an option too, or always.
  const std::string derived =
      "class Ranked(Buffer):\n    def __init__(self, size):\n        super().__init__(size)\n";
  CHECK(found("    if KEEP:\n        buffer = Ranked(3)\n", derived) == "-a.py:7");
  CHECK(found("    buffer = Ranked(3)\n", derived) == "a.py:7");
}

TEST_CASE(
    "what a call asks for by its argument runs for that call, not for others of its function") {
  const auto read = [](const std::string& name) {
    return "def " + name + "(x):\n    return x.sum().item()\n";
  };
  const auto places = [&](const std::string& method, const std::string& defined) {
    return lowered_places(
        {{"train.py", "",
          step_with(read("beam") + "def decode(x, method):\n    if method == 'beam':\n" + defined +
                        "    return x\n" + "def predict(x):\n    return decode(x, 'beam')\n",
                    "    decode(loss, " + method + ")\n")}});
  };
  const std::string calls = "        return beam(x)\n", reads = "        return x.sum().item()\n";
  CHECK(places("'beam'", calls) == "train.py:3");
  CHECK(places("method", calls) == "train.py:3");
  CHECK(places("'forcing'", calls).empty());
  CHECK(places("'beam'", reads) == "train.py:6");
  CHECK(places("'forcing'", reads).empty());
}

TEST_CASE("what a text gives a name") {
  CHECK(given("f(probe=False, x=1)", "probe") == "off");
  CHECK(given("f(probe = None)", "probe") == "none");
  CHECK(given("probe: bool = True\n", "probe") == "literal");
  CHECK(given("probe: Optional[int] = None,", "probe") == "none");
  CHECK(given("probe: bool = field(\n    default=False,\n    metadata={})", "probe") == "off");
  CHECK(given("probe == 3", "probe").empty());
  CHECK(given("probe += 1", "probe") == "other");
  CHECK(given("probe = probe.bool()", "probe").empty());
  CHECK(given("probe = torch.as_tensor(probe, device=d)", "probe").empty());
  CHECK(given("probe = a + b", "probe") == "other");
  CHECK(given("probe = args.deep\n", "probe") == "same");
  CHECK(given("add_argument('-p', '--probe-it', type=int, default=0)", "probe_it") == "off");
  CHECK(given("add_argument('--probe', required=True)", "probe") == "other");
  CHECK(given("add_argument('--no-probe', dest='probe', action='store_false')", "probe") ==
        "literal");
  CHECK(given("DEFINE_bool('probe', False, 'help')", "probe") == "off");
  CHECK(given("run(['train.py', '--probe'])", "probe") == "other");
  CHECK(given("{'probe': 3, 'x': [1]}", "probe") == "literal");
  CHECK(given("if mode == 'probe':\n    x = 1\n", "probe").empty());
  CHECK(given("probe = cfg['solver'].get('deep', False)\n", "probe") == "same");
  CHECK(given("probe = cfg['solver']['deep']\n", "probe") == "same");
  CHECK(given("probe = cfg['solver'].deep\n", "probe") == "same");
  CHECK(given("probe = cfg['solver'].build()\n", "probe") == "other");
  CHECK(given("probe: [1, 2]\n", "probe", Notation::settings) == "other");
  CHECK(given("{\"probe\": null}", "probe", Notation::settings) == "none");
  CHECK(given("train.py --probe=0 --other", "probe", Notation::settings) == "off");
  CHECK(given("train.py --probe --other", "probe", Notation::settings) == "literal");
  CHECK(given("The probe = 3. `train.py net.probe=3`", "probe", Notation::document) == "literal");
  for (const char* broken : {"probe =", "--probe", "'--probe", "add_argument('--probe'",
                             "probe: ", "getattr(x, 'probe'", "probe = 'x", "probe[", "'probe'"})
    CHECK_NOTHROW(given(broken, "probe"));
}

}  // namespace stallscope
