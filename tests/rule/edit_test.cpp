// Edits: what each makes of a matched call, and where it holds back.
#include "rule/edit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "rule/load.h"

using namespace stallscope;

namespace {

/// `source` with the edit made at its call between << and >>; "" when none is made.
std::string edited(const CallEdit& edit, std::string source) {
  const size_t first = source.find("<<");
  source.erase(first, 2);
  const size_t last = source.find(">>");
  source.erase(last, 2);
  const MatchedCall call{static_cast<uint32_t>(first), static_cast<uint32_t>(last)};
  auto edits = edits_of(edit, source, call);
  return edits.empty() ? "" : apply_edits(source, edits).value_or("does not parse");
}

}  // namespace

TEST_CASE("edits of a call") {
  const CallEdit remove{EditKind::remove_argument, "foreach", "False", "", false};
  const CallEdit add{EditKind::add_argument, "non_blocking", "True", "", false};
  const CallEdit rebind{EditKind::add_argument, "non_blocking", "True", "pin_memory=True", true};
  const CallEdit statement{EditKind::remove_statement, "", "", "", false};
  const CallEdit device{EditKind::device_in_factory, "", "", "", false};
  struct Row {
    const CallEdit& edit;
    const char* source;
    const char* result;  ///< "" = left alone
  };
  const Row rows[] = {
      {remove, "<<f(foreach=False)>>\n", "f()\n"},
      {remove, "<<f(foreach=False,)>>\n", "f()\n"},
      {remove, "<<f(a, foreach=False)>>\n", "f(a)\n"},
      {remove, "<<f(a, foreach=False, b=1)>>\n", "f(a, b=1)\n"},
      {remove, "<<f(a, foreach=True)>>\n", ""},
      {remove, "<<f(False)>>\n", ""},
      {remove, "<<f(a,  # why\n  foreach=False)>>\n", ""},
      {add, "<<x.to(d)>>\n", "x.to(d, non_blocking=True)\n"},
      {add, "<<x.cuda()>>\n", "x.cuda(non_blocking=True)\n"},
      {add, "<<x.to(d, non_blocking=False)>>\n", ""},
      {add, "<<x.to(*args)>>\n", ""},
      {rebind, "L(pin_memory=True)\nx = <<x.to(d)>>\n",
       "L(pin_memory=True)\nx = x.to(d, non_blocking=True)\n"},
      {rebind, "L(pin_memory=True)\ny = <<x.to(d)>>\n", ""},
      {rebind, "x = <<x.to(d)>>\n", ""},
      {statement, "a = 1\n<<f(True)>>\nb = 2\n", "a = 1\nb = 2\n"},
      {statement, "if a:\n    <<f(True)>>\n", "if a:\n    pass\n"},
      {statement, "a = 1; <<f(True)>>\n", ""},
      {statement, "<<f(True)>>  # why\n", ""},
      {statement, "with <<f(True)>>:\n    g()\n", ""},
      {device, "import torch\nm = <<torch.zeros(n).to(device)>>\n",
       "import torch\nm = torch.zeros(n, device=device)\n"},
      {device, "import torch as t\nm = <<t.ones(2, 3).cuda()>>\n",
       "import torch as t\nm = t.ones(2, 3, device=\"cuda\")\n"},
      {device, "import torch\nm = <<torch.zeros(n).to(x.device)>>\n",
       "import torch\nm = torch.zeros(n, device=x.device)\n"},
      {device, "import torch\nm = <<torch.randn(n).to(device)>>\n", ""},
      {device, "import torch\nm = <<torch.zeros(n).to(torch.float16)>>\n", ""},
      {device, "import torch\nm = <<torch.zeros(n).to(other)>>\n", ""},
      {device, "import torch\nm = <<torch.zeros(n, requires_grad=True).to(device)>>\n", ""},
      {device, "\xef\xbb\xbfimport torch\nm = <<torch.zeros(n).to(device)>>\n", ""},
  };
  for (const Row& row : rows) CHECK_MESSAGE(edited(row.edit, row.source) == row.result, row.source);
}

TEST_CASE("a match is counted behind a byte order mark") {
  const CallEdit edit{EditKind::device_in_factory, "", "", "", false};
  const std::string mark = "\xef\xbb\xbf", code = "import torch\nm = torch.zeros(n).cuda()\n";
  auto edits = edits_of(edit, mark + code, {17, 38});
  REQUIRE(edits.size() == 2);
  CHECK(apply_edits(mark + code, edits) ==
        mark + "import torch\nm = torch.zeros(n, device=\"cuda\")\n");
}

TEST_CASE("what would not parse is not made") {
  CHECK_FALSE(apply_edits("f(a)\n", {{1, 2, ""}}));
  CHECK_FALSE(apply_edits("f(a)\n", {{1, 3, "x"}, {2, 4, "y"}}));
}

TEST_CASE("unified diff") {
  struct Row {
    const char *before, *after, *diff;
  };
  const Row rows[] = {
      {"a\n", "a\n", ""},
      {"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
      {"a\nb\n", "b\n", "@@ -1,2 +1 @@\n-a\n b\n"},
      {"a", "a\nb\n", "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"},
      {"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\n",
       "@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n"},
  };
  for (const Row& row : rows) {
    const std::string expected =
        *row.diff ? "--- a/f\n+++ b/f\n" + std::string(row.diff) : std::string();
    CHECK(unified_diff("f", row.before, row.after) == expected);
  }
}

TEST_CASE("a bundled rule whose fix is safe can make it, and what is safe is decided one by one") {
  const auto rules = load_bundled_rules({});
  REQUIRE(rules.ok());
  std::vector<std::string> safe;
  for (const Rule& rule : *rules) {
    if (rule.fix.applicability != Applicability::safe) continue;
    safe.push_back(rule.id);
    if (rule.has_source()) CHECK_MESSAGE(rule.edit.kind != EditKind::none, rule.id);
  }
  // rules/fixes says why these, and why not the others.
  CHECK(safe == std::vector<std::string>{"create-then-move"});
}
