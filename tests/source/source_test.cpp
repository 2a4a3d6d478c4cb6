// Parts of the source index: trees, patterns, ignore files, hostile input, cache.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>

#include "base/file.h"
#include "source/extract/cache.h"
#include "source/extract/file_facts.h"
#include "source/gitignore.h"
#include "source/index.h"
#include "source/item_rule.h"
#include "source/match/matcher.h"
#include "source/match/pattern.h"
#include "source/names/roles.h"
#include "source/syntax/notebook.h"

using namespace stallscope;

namespace {

TEST_CASE("trainers that are compared are no tests, programs that time them are") {
  CHECK_FALSE(is_test_path("p/benchmark/trainer/training.py"));
  CHECK_FALSE(is_test_path("benchmark/torch/a2c/train.py"));
  CHECK(is_test_path("benchmarks/train_speed.py"));
  CHECK(is_test_path("benchmarks/bench_train.py"));
  CHECK(is_test_path("benchmark/ops/softmax.py"));
  CHECK(is_test_path("benchmark/constrain/layer.py"));
  CHECK(is_test_path("tests/trainer/loop.py"));
  CHECK(is_test_path("scripts/debug/compare_models.py"));
  CHECK_FALSE(is_test_path("scripts/debug/train.py"));
}

TEST_CASE("train_test.py is no test where it trains and has no cases") {
  const RuleSet rules = items_unless("step", "test-or-benchmark");
  auto found = [&](const std::string& path, const std::string& head) {
    const std::string code = head +
                             "def train(model, loader, opt):\n    for x in loader:\n"
                             "        loss = model(x).mean()\n        loss.backward()\n"
                             "        opt.step()\n        print(loss.item())\n";
    const SourceIndex index = SourceIndex::build({{path, "", code}}, rules, {});
    return !index.facts().empty();
  };
  CHECK(found("diffusion/train_test.py", "import torch\n"));
  CHECK(found("train_and_test.py", "import torch\n"));
  CHECK_FALSE(found("diffusion/model_test.py", "import torch\n"));
  CHECK_FALSE(found("tests/train_test.py", "import torch\n"));
  CHECK_FALSE(found("train_test.py", "import torch\nfrom absl.testing import absltest\n"));
  CHECK_FALSE(found("train_test.py", "import torch\nimport unittest\n"));
}

TEST_CASE("a model's part is told by its file's last word, an evaluation's class by its first") {
  const RuleSet rules = item_rule({"step", "forward"});
  auto context_of = [&](const std::string& path, const std::string& code) -> std::string {
    const SourceIndex index = SourceIndex::build({{path, "", code}}, rules, {});
    const auto facts = index.facts();
    return facts.empty() ? "" : facts.front().context;
  };
  const std::string code =
      "import torch\ndef accuracy(x: torch.Tensor):\n    return x.sum().item()\n";
  CHECK(context_of("p/heads/vis_head.py", code) == "library");
  CHECK(context_of("p/data_loss.py", code) == "library");
  CHECK(context_of("p/vis_utils.py", code).empty());
  CHECK(context_of("p/vis/depth_head.py", code).empty());  // the folder still counts
  auto named = [&](const std::string& name) {
    return "import torch\ndef " + name + "(x: torch.Tensor):\n    return x.sum().item()\n";
  };
  CHECK(context_of("p/utils.py", named("step_norm")) == "library");
  CHECK(context_of("p/utils.py", named("to_numpy")).empty());  // hands over what is asked for
  auto method_of = [&](const std::string& name) {
    return "import torch\nclass " + name +
           "(Base):\n    def update(self, x: torch.Tensor):\n        return x.sum().item()\n";
  };
  CHECK(context_of("p/meters.py", method_of("TrainMeter")) == "library");
  CHECK(context_of("p/meters.py", method_of("ValueMeter")) == "library");
  CHECK(context_of("p/meters.py", method_of("TestMeter")).empty());
  CHECK(context_of("p/meters.py", method_of("ValMeter")).empty());
}

}  // namespace

TEST_CASE("patterns match by structure") {
  struct Row {
    const char* pattern;
    const char* code;
    bool matches;
  };
  const Row rows[] = {
      {"$X = tree_at($G, $X, ...)", "model = eqx.tree_at(lambda m: m.w, model, 0)\n", true},
      {"$X = tree_at($G, $X, ...)", "other = eqx.tree_at(lambda m: m.w, model, 0)\n", false},
      {"$X[$I].item()", "scores[i].item()\n", true},
      {"$X[$I].item()", "scores.item()\n", false},
      {"f($A, $A)", "f(x + 1, x+1)\n", true},
      {"f($A, $A)", "f(x, y)\n", false},
      {"f(a=$V)", "f(b=1, a=2)\n", false},
      {"f(a=$V, ...)", "f(b=1, a=2)\n", true},
      {"torch.zeros($N)", "import torch as t\nt.zeros(3)\n", true},
  };
  for (const Row& row : rows) {
    auto pattern = Pattern::compile(row.pattern, Grammar::python);
    REQUIRE(pattern.ok());
    const Ast ast = parse_source(row.code, Grammar::python);
    const Names names(ast);
    bool found = false;
    Bindings bindings;
    for (NodeId id = 0; id < ast.size(); ++id) found |= pattern->match(ast, names, id, bindings);
    CHECK_MESSAGE(found == row.matches, row.pattern << " on " << row.code);
  }
}

TEST_CASE("a pattern that cannot be read, or has more metavariables than one may, is an error") {
  CHECK_FALSE(Pattern::compile("f($A, $B, $C, $D, $E, $F, $G, $H, $I)", Grammar::python).ok());
  CHECK(Pattern::compile("f($A, $B, $C, $D, $E, $F, $G, $H, $A)", Grammar::python).ok());
  CHECK_FALSE(Pattern::compile("f(", Grammar::python).ok());
  CHECK_FALSE(Pattern::compile("", Grammar::python).ok());
}

TEST_CASE("there are at most ten matchers, each found by its name") {
  CHECK(matchers().size() <= 10);
  for (const Matcher& matcher : matchers()) CHECK(matcher_of(matcher.name) == &matcher);
}

TEST_CASE("ignore files leave out what git leaves out") {
  Gitignore ignore;
  ignore.add("", "*.pyc\nbuild/\n/data\n!keep.pyc\nsrc/**/gen.py\n");
  ignore.add("sub", "local.py\n");
  struct Row {
    const char* path;
    bool directory, ignored;
  };
  const Row rows[] = {
      {"a.pyc", false, true},          {"keep.pyc", false, false},    {"x/build", true, true},
      {"x/build", false, false},       {"data", true, true},          {"x/data", true, false},
      {"src/a/b/gen.py", false, true}, {"sub/local.py", false, true}, {"local.py", false, false}};
  for (const Row& row : rows)
    CHECK_MESSAGE(ignore.ignores(row.path, row.directory) == row.ignored, row.path);
  CHECK(glob_matches("a*b[0-9]?", "axxb7z"));
  CHECK_FALSE(glob_matches("a*c", "a/c"));
}

TEST_CASE("findings elsewhere in a broken file still come") {
  const RuleSet rules = item_rule();
  const FileFacts facts = analyze_file(
      "a.py", "import torch\ndef f(x:\n    return (\n\ndef g(y):\n    return y.item()\n", rules);
  REQUIRE(facts.candidates.size() == 1);
  CHECK(facts.candidates[0].first_line == 6);
  CHECK(facts.readable < 1);
}

TEST_CASE("a declaration of a class of C++ is no class") {
  const RuleSet rules = item_rule({"step"});
  const FileFacts facts = analyze_file(
      "net.h", "#include <torch/torch.h>\nclass Net;\nstruct Net* net;\nclass Net : Base {};\n",
      rules);
  CHECK(facts.classes.size() == 1);
}

TEST_CASE("hostile bytes are read to the end") {
  const RuleSet rules = item_rule();
  const std::string head = "import torch\n";
  const std::string tail = "\ndef g(y):\n    return y.item()\n";
  struct Row {
    const char* what;
    std::string bytes;
    size_t found;
  };
  const Row rows[] = {
      {"byte order mark", "\xef\xbb\xbf" + head + tail, 1},
      {"Latin-1", head + "# caf\xe9\nname = 'caf\xe9'" + tail, 1},
      {"tabs", head + "def g(y):\n\tif y:\n\t\treturn y.item()\n", 1},
      {"Python 2", head + "print 'x'\nexec 'y'" + tail, 1},
      {"carriage returns", head + "def g(y):\r\n    return y.item()\r\n", 1},
      {"empty", "", 0},
      {"zero bytes", head + "x = '" + std::string(3, '\0') + "'" + tail, 1},
      {"a bracket left open", head + "def f(x:\n    return (\n" + tail, 1},
      {"a bracket left open, decorated", head + "x = f(\n\n@jit\n" + tail.substr(1), 1},
      {"deep brackets",
       head + "x = " + std::string(20000, '(') + "1" + std::string(20000, ')') + "\n", 0},
      {"deep sums",
       head + "x = 1" +
           [] {
             std::string s;
             for (int i = 0; i < 20000; ++i) s += "+1";
             return s;
           }() +
           tail,
       1},
  };
  for (const Row& row : rows) {
    const FileFacts facts = analyze_file("a.py", row.bytes, rules);
    CHECK_MESSAGE(facts.candidates.size() == row.found, row.what);
  }
  FileOptions small;
  small.max_bytes = 10;
  const FileFacts skipped = analyze_file("a.py", head + tail, rules, small);
  CHECK(skipped.skipped);
  CHECK_FALSE(skipped.note.empty());
}

TEST_CASE("damaged code never crashes the index") {
  const RuleSet rules = item_rule();
  std::mt19937 random(7);
  for (const char* name : {"item-in-step/fires.py", "item-in-step/fires.cpp",
                           "explicit-sync/fires.cu", "jax-host-read-in-step/fires.py"}) {
    const std::string path = std::string(STALLSCOPE_SOURCE_DIR "/rules/cases/") + name;
    const std::string original = *read_file(path);
    for (int round = 0; round < 150; ++round) {
      std::string bytes = original;
      for (int i = 0; i < 8; ++i) {
        const size_t at = random() % bytes.size();
        switch (random() % 3) {
          case 0:
            bytes[at] = static_cast<char>(random());
            break;
          case 1:
            bytes.erase(at, random() % 9);
            break;
          default:
            bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 30));
            break;
        }
        if (bytes.empty()) bytes = "x";
      }
      const FileFacts facts = analyze_file(name, bytes, rules);
      CHECK(facts.readable <= 1);
    }
  }
}

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST_CASE("code nested beyond the limit is read up to it, whatever stands there") {
  const RuleSet rules = item_rule();
  struct Row {
    const char* what;
    std::string_view before, after;  ///< around what is nested, again and again
  };
  const Row rows[] = {{"calls", "", "()"},
                      {"methods", "", ".b(1)"},
                      {"methods over lines", "(", "\n  .b(1))"},
                      {"subscripts", "", "[0]"},
                      {"attributes in calls", "g(a=", ".b)"},
                      {"unpacked", "g(*", ")"},
                      {"print", "print(", ")"},
                      {"format", "'{}'.format(", ")"},
                      {"conditions", "(1 if ", " else 2)"},
                      {"lambdas", "(lambda x: ", ")()"},
                      {"comparisons", "(", ") < 1"},
                      {"comprehensions", "[x for x in ", "]"},
                      {"awaits", "await ", ""},
                      {"negations", "not ", ""},
                      {"yields", "(yield ", ")"}};
  // Every depth near the limit: which node meets it depends on what stands above.
  for (const Row& row : rows) {
    for (size_t depth = kMaxNesting / 4; depth < kMaxNesting + 10;
         depth += depth % 50 < 10 ? 1 : 40) {
      const std::string nested = repeated(row.before, depth) + "f" + repeated(row.after, depth);
      for (const char* statement : {"x = ", "if ", "print("}) {
        std::string code = "import torch\ndef g(y):\n    " + std::string(statement) + nested;
        code += statement[0] == 'i' ? ": pass\n" : statement[0] == 'p' ? ")\n" : "\n";
        const FileFacts facts = analyze_file("a.py", code + "    return y.item()\n", rules);
        CHECK_MESSAGE(facts.functions.size() == 2, row.what);
      }
    }
  }
  const FileFacts bound =
      analyze_file("a.cpp",
                   "#include <torch/torch.h>\nvoid bind(M& m) {\n  py::class_<A>(m, \"A\")" +
                       repeated("\n    .def(\"b\", &A::b)", 250) + ";\n}\n",
                   rules);
  CHECK(bound.functions.size() == 2);
}

TEST_CASE("stored facts come back whole, and damaged ones do not") {
  namespace fs = std::filesystem;
  const RuleSet rules = item_rule();
  const std::string folder = (fs::temp_directory_path() / "stallscope-cache-test").string();
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string bytes =
      "import torch\ndef g(y, n=1):\n    for i in y:\n        print(y[i].item())\n";
  const FileFacts facts = analyze_file("a.py", bytes, rules);
  store_facts(folder, "a.py", bytes, rules.digest(), facts);
  auto back = cached_facts(folder, "a.py", bytes, rules.digest());
  REQUIRE(back);
  CHECK(back->candidates.size() == facts.candidates.size());
  CHECK(back->functions.at(1).parameters == facts.functions.at(1).parameters);
  CHECK(back->candidates.at(0).line_text == "print(y[i].item())");
  CHECK_FALSE(cached_facts(folder, "a.py", bytes + "\n", rules.digest()));
  // Where a file is says what it is: a package's __init__.py offers what it names.
  CHECK_FALSE(cached_facts(folder, "a/__init__.py", bytes, rules.digest()));
  // A number that is another one, within bounds or not, is damage like any other.
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string(), whole = *read_file(path);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] ^= 1;
      REQUIRE(write_file(path, damaged).ok());
      CHECK_FALSE(cached_facts(folder, "a.py", bytes, rules.digest()));
    }
    REQUIRE(write_file(path, whole).ok());
    CHECK(cached_facts(folder, "a.py", bytes, rules.digest()));
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string stored = *read_file(entry.path().string());
    REQUIRE(write_file(entry.path().string(), stored.substr(0, stored.size() / 2)).ok());
  }
  CHECK_FALSE(cached_facts(folder, "a.py", bytes, rules.digest()));
  fs::remove_all(folder);
}

TEST_CASE("notebook cells become one text with their places") {
  const Notebook notebook = notebook_code(
      R"({"cells":[{"cell_type":"markdown","source":"x"},{"cell_type":"code","source":["%pip install a\n","y = 1\n"]},
          {"cell_type":"code","source":"z = 2"}]})");
  CHECK(notebook.code == std::string(14, ' ') + "\ny = 1\nz = 2\n");
  REQUIRE(notebook.cell_of_line.size() == 3);
  CHECK(notebook.cell_of_line[1] == "cell 2, line 2");
  CHECK(notebook_code("[1, 2").code.empty());
  CHECK(notebook_code(R"({"cells": [{"cell_type": ["code"], "source": ["x\\n"]}]})").code.empty());
}

TEST_CASE("contexts reach functions through star imports and bindings for Python") {
  const RuleSet rules = item_rule({"step", "forward"});
  auto context_of = [&](std::vector<SourceInput> inputs) -> std::string {
    const SourceIndex index = SourceIndex::build(inputs, rules, {});
    const auto facts = index.facts();
    return facts.empty() ? "" : facts.front().context;
  };
  const char* module =
      "import torch\nfrom ..ops import *\nclass Conv(torch.nn.Module):\n"
      "    def forward(self, x):\n        return conv(x)\n";
  const char* operation = "import torch\ndef conv(x):\n    return x * x.sum().item()\n";
  CHECK(context_of({{"p/nn/conv.py", "", module}, {"p/ops/conv.py", "", operation}}) == "forward");
  CHECK(context_of({{"p/nn/conv.py", "", module}, {"p/other/conv.py", "", operation}}).empty());
  const std::string kernel =
      "#include <torch/extension.h>\nint64_t count(const torch::Tensor& x) {\n"
      "  return x.sum().item<int64_t>();\n}\n";
  const char* binding =
      "#include \"count.h\"\nPYBIND11_MODULE(ops, m) { m.def(\"count\", &ns::count<float>); }\n"
      "// torch/extension.h\n";
  CHECK(context_of({{"count.cpp", "", kernel}, {"bind.cpp", "", binding}}) == "forward");
  CHECK(context_of({{"count.cpp", "", kernel}}).empty());
  // What the bound function calls in another file runs there too.
  const char* caller =
      "#include <torch/extension.h>\nint64_t total(const torch::Tensor& x) {\n"
      "  return ns::count<float>(x);\n}\nvoid bind(py::module& m) { m.def(name(), &total); }\n";
  CHECK(context_of({{"count.cpp", "", kernel}, {"total.cu", "", caller}}) == "forward");
}

TEST_CASE("a function that a variable stands for is called where the variable is") {
  const RuleSet rules = item_rule({"forward"});
  const std::string splines =
      "import torch\ndef linear(x: torch.Tensor):\n    return x.sum().item()\n"
      "def cubic(x: torch.Tensor):\n    return x.min().item()\n";
  auto chosen_by = [&](const std::string& choice) {
    const std::string net =
        "import torch\nfrom p.splines import linear, cubic\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x):\n" +
        choice + "        return fn(x)\n";
    const std::vector<SourceInput> inputs = {{"p/net.py", "", net}, {"p/splines.py", "", splines}};
    size_t in_forward = 0;
    for (const SourceFact& fact : SourceIndex::build(inputs, rules, {}).facts())
      in_forward += fact.context == "forward" ? 1 : 0;
    return in_forward;
  };
  CHECK(chosen_by("        fn = linear\n") == 1);
  CHECK(chosen_by("        fn = linear if self.smooth else cubic\n") == 2);
  CHECK(chosen_by("        fn = linear\n        if self.smooth:\n            fn = cubic\n") == 2);
  CHECK(chosen_by("        fn = self.net\n") == 0);
}

TEST_CASE("torch is torch in a file that imports everything of another one") {
  const auto path_of = [](const std::string& head) {
    const std::string text = head + "grid = torch.arange(4)\n";
    const Ast ast = parse_source(text, Grammar::python);
    const Names names(ast);
    for (NodeId id = 1; id < ast.size(); ++id) {
      if (ast[id].kind == NodeKind::call) {
        const Dotted& path = names.resolve(ast.child(id, Role::callee));
        return path.imported ? path.path : "";
      }
    }
    return std::string();
  };
  CHECK(path_of("from .common import *\n") == "torch.arange");
  CHECK(path_of("from .common import Conv\n").empty());
  CHECK(path_of("from .common import *\nclass torch: pass\n").empty());
}

TEST_CASE("a method that no file names is not called, and a deployed module is not trained") {
  const RuleSet rules = item_rule({"step", "forward"});
  auto context_of = [&](std::vector<SourceInput> inputs) -> std::string {
    const SourceIndex index = SourceIndex::build(inputs, rules, {});
    const auto facts = index.facts();
    return facts.empty() ? "" : facts.front().context;
  };
  const std::string code =
      "import torch\nclass A:\n    def total_loss(self, x: torch.Tensor):\n"
      "        return x.sum().item()\n";
  const struct {
    const char* other;
    const char* context;
  } rows[] = {
      {"import torch\nA()\n", ""},
      {"import torch\nA()\nf(a.total_loss)\n", "library"},
      {"import torch\nA()\ngetattr(a, f'{kind}_loss')\n", "library"},
      {"import torch\nA()\ngetattr(a, f'total_{kind}')\n", "library"},
      {"import torch\nA().total_loss()\n", "library"},
      {"A().total_loss(3)\n", "library"},  // names no framework
      {"import torch\nA()\ndef total_loss():\n    pass\n", ""},
  };
  for (const auto& row : rows)
    CHECK_MESSAGE(context_of({{"p/a.py", "", code}, {"p/b.py", "", row.other}}) == row.context,
                  row.other);
  std::string outside = code;  // a class of elsewhere may call it
  outside.replace(outside.find("class A:"), 8, "class A(Base):");
  CHECK(context_of({{"p/a.py", "", outside}}) == "library");
  std::string decorated = code;
  decorated.replace(decorated.find("    def"), 4, "    @hook('loss')\n    ");
  CHECK(context_of({{"p/a.py", "", decorated}}) == "library");

  const char* module =
      "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x / x.sum().item()\n";
  CHECK(context_of({{"p/models/net.py", "", module}}) == "forward");
  CHECK(context_of({{"p/deployment/net.py", "", module}}).empty());
  for (const char* path : {"p/tensorrt/net.py", "p/evaluation/fid.py", "p/scoring/flow.py",
                           "p/gen_img.py", "p/infer_net.py"})
    CHECK_MESSAGE(context_of({{path, "", module}}).empty(), path);
}

TEST_CASE("a method keeps its class after one that defines a function or a class inside") {
  const FileFacts facts = analyze_file("a.py",
                                       "import torch\n"
                                       "class M:\n"
                                       "    def first(self):\n"
                                       "        def inner():\n"
                                       "            return 1\n"
                                       "        class Local:\n"
                                       "            def method(self):\n"
                                       "                return 2\n"
                                       "        return inner()\n"
                                       "    def forward(self, x):\n"
                                       "        return x\n"
                                       "def outside():\n"
                                       "    pass\n",
                                       item_rule());
  std::vector<std::string> qualified;
  for (const FunctionFacts& f : facts.functions) qualified.push_back(f.qualified);
  CHECK(qualified == std::vector<std::string>{"<module>", "M.first", "M.first.inner",
                                              "M.first.method", "M.forward", "outside"});
  CHECK(facts.functions[3].class_name == "Local");
  CHECK((facts.functions[4].flags & kForward) != 0);
}

TEST_CASE("a function that nobody takes from a module that others use is not called") {
  const RuleSet rules = item_rule({"step", "forward"});
  auto context_of = [&](std::vector<SourceInput> inputs) -> std::string {
    const SourceIndex index = SourceIndex::build(inputs, rules, {});
    const auto facts = index.facts();
    return facts.empty() ? "" : facts.front().context;
  };
  const std::string code =
      "import torch\ndef total_loss(x: torch.Tensor):\n    return x.sum().item()\n";
  CHECK(context_of({{"losses.py", "", code}}) == "library");
  const struct {
    const char* other;
    const char* context;
  } rows[] = {
      {"import torch\n", "library"},  // nobody uses the module: it may be there for others
      {"import torch\nimport losses\n", ""},
      {"import torch\nfrom losses import other\n", ""},
      {"from losses import other\n", ""},                            // names no framework
      {"import torch\nfrom losses import other, total_loss\n", ""},  // it does not use it
      {"import torch\nfrom losses import other, total_loss\nf(total_loss)\n", "library"},
      {"import torch\nimport losses\nf = getattr(losses, f'total_{kind}')\n", "library"},
  };
  for (const auto& row : rows)
    CHECK_MESSAGE(context_of({{"losses.py", "", code}, {"train.py", "", row.other}}) == row.context,
                  row.other);
  // What converts a model for a runtime of its own.
  CHECK(context_of({{"losses.py", "", "import tensorrt\n" + code}}).empty());
}
