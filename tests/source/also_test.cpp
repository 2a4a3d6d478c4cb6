// The lines that a finding is about beside its own: where it is to be mended.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// "line: others" of each fact, sorted and joined by blanks.
std::string lines(const RuleSet& rules, const std::string& code) {
  const std::vector<SourceInput> files = {{"net.py", "", "import torch\n" + code}};
  const SourceIndex index = SourceIndex::build(files, rules, {});
  std::vector<std::string> out;
  for (const SourceFact& fact : index.facts()) {
    std::string text = std::to_string(fact.first_line) + ":";
    for (const SourceLine& line : fact.also) text += std::to_string(line.line) + ",";
    out.push_back(std::move(text));
  }
  return sorted_in_line(std::move(out));
}

RuleSet moves() {
  SourceClause clause;
  clause.calls = {".to"};
  clause.on = "fresh-tensor";
  clause.certainty = "likely";
  return clause_rule(std::move(clause), {"python"});
}

std::string forward(const std::string& body) {
  return "class Net(torch.nn.Module):\n    def forward(self, x):\n" + body;
}

/// "file:line" of what copies in a step of an engine, which keeps its device in blob.h, and of the
/// lines beside it, joined by blanks.
std::string copies_of_engine(const std::string& blob, const std::string& train) {
  auto condition = std::make_shared<SourceCondition>();
  SourceClause clause;
  clause.calls = {"cudaMemcpy"};
  clause.contexts = {"step"};
  condition->any.push_back(std::move(clause));
  auto compiled = RuleSet::compile({{{"copy", {"cpp", "cuda"}, condition, false, true}}});
  REQUIRE(compiled.ok());
  const std::vector<SourceInput> files = {{"blob.h", "", blob}, {"train.cpp", "", train}};
  const SourceIndex index = SourceIndex::build(files, compiled.value(), {});
  std::vector<std::string> out;
  for (const SourceFact& fact : index.facts()) {
    out.push_back(fact.file + ":" + std::to_string(fact.first_line));
    for (const SourceLine& line : fact.also)
      out.push_back(line.file + ":" + std::to_string(line.line));
  }
  return sorted_in_line(std::move(out));
}

}  // namespace

TEST_CASE("C++: what moves an engine's own blobs is told where a step asks for it") {
  const std::string blob =
      "#include <cuda_runtime.h>\n"
      "struct Blob {\n"
      "  float* to(int place) {\n"
      "    if (place == 1) cudaMemcpy(device_, host_, size_, cudaMemcpyHostToDevice);\n"
      "    return device_;\n"
      "  }\n"
      "};\n";
  // Names no library, and is read for what it calls.
  const std::string train =
      "#include \"blob.h\"\n"
      "void train(Network& network, Images& images) {\n"
      "  for (int step = 0; step < 1000; ++step) {\n"
      "    images.pixels()->to(1);\n"
      "    network.forward();\n"
      "    network.backward();\n"
      "    optimizer.step();\n"
      "  }\n"
      "}\n";
  CHECK(copies_of_engine(blob, train) == "blob.h:4 train.cpp:4");
  // Another class has such a method, too: which one is called nobody says.
  CHECK(copies_of_engine(blob + "struct Frame {\n  void to(int place) { place_ = place; }\n};\n",
                         train) == "");
}

TEST_CASE("a tensor that is moved is told with the line that made it") {
  const std::string moved = "        return y.to(x.device)\n";
  CHECK(lines(moves(), forward("        y = torch.zeros(3)\n" + moved)) == "5:4,");
  CHECK(lines(moves(), forward("        return torch.zeros(3).to(x.device)\n")) == "4:");
}

TEST_CASE("an expression over several lines is told with its first one") {
  CHECK(lines(moves(), forward("        return (torch.zeros(\n            3)\n"
                               "            .to(x.device))\n")) == "6:4,");
}

TEST_CASE("attention is told from its first product to its second") {
  SourceClause clause;
  clause.matcher = "manual-attention";
  const RuleSet rules = clause_rule(std::move(clause), {"python"});
  CHECK(lines(rules, forward("        q, k, v = self.qkv(x)\n"
                             "        w = q @ k.transpose(-2, -1)\n"
                             "        w = w * self.scale\n"
                             "        w = w.softmax(-1)\n"
                             "        return w @ v\n")) == "7:5,8,");
}

TEST_CASE("what is told once for a function is told with its other lines") {
  SourceClause clause;
  clause.calls = {".item"};
  const RuleSet rules = clause_rule(std::move(clause), {"python"});
  CHECK(lines(rules, forward("        a = x.sum().item()\n"
                             "        return a + x.max().item()\n")) == "4:5,");
}

TEST_CASE("a literal that is asked for is told with its line") {
  SourceClause clause;
  clause.calls = {"torch.DataLoader"};
  clause.args = {{"workers", {"absent", "0"}}, {"0", {"present"}}};
  const RuleSet rules = clause_rule(std::move(clause), {"python"});
  CHECK(lines(rules,
              "def make(data):\n    return torch.DataLoader(\n        data,\n"
              "        workers=0)\n") == "3:5,");
  CHECK(lines(rules, "def make(data):\n    return torch.DataLoader(\n        data)\n") == "3:");
}

TEST_CASE("a print over several lines is told with its first one") {
  SourceClause clause;
  clause.matcher = "formatted-tensor";
  const RuleSet rules = clause_rule(std::move(clause), {"python"});
  CHECK(lines(rules, forward("        print(\n            f\"mean\"\n"
                             "            f\" {x.mean()}\"\n        )\n        return x\n")) ==
        "6:4,");
}

TEST_CASE("what a short function does with what it is handed is told with who hands it in") {
  auto reads = std::make_shared<SourceCondition>();
  SourceClause& clause = reads->any.emplace_back();
  clause.calls = {"jax.device_get"};
  clause.contexts = {"step"};
  const std::vector<SourceRule> rule = {{"read", {"python"}, reads, false, true}};
  const auto rules = RuleSet::compile(rule);
  REQUIRE(rules.ok());
  CHECK(lines(*rules,
              "import jax\n"
              "def train(step, state, loader):\n"
              "    for batch in loader:\n"
              "        state, out = step(state, batch)\n"
              "        grads = jax.grad(loss)(state, batch)\n"
              "        out = take(out)\n"
              "def take(value):\n"
              "    return jax.device_get(value)\n") == "9:7,");
}
