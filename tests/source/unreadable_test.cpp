// What cannot be read of a file is said, and costs no more of its findings than it must.
#include <doctest/doctest.h>

#include <string>

#include "source/extract/file_facts.h"
#include "source/item_rule.h"
#include "source/syntax/notebook.h"
#include "source/syntax/parsed_text.h"

using namespace stallscope;

namespace {

const std::string kHead = "import torch\n";
const std::string kTail = "\ndef g(y):\n    return y.item()\n";

std::string utf16(const std::string& text, bool big_endian, bool mark) {
  std::string out = !mark ? "" : big_endian ? "\xfe\xff" : "\xff\xfe";
  for (const char c : text) out += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

bool says(const std::string& note, const std::string& part) {
  return part.empty() ? note.empty() : note.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("text that is not read as it stands has a note") {
  std::string returns = kHead + kTail;
  for (char& c : returns) {
    if (c == '\n') c = '\r';
  }
  struct Row {
    const char* what;
    std::string bytes, note;
    size_t found;
  };
  const Row rows[] = {
      {"UTF-8", kHead + kTail, "", 1},
      {"UTF-16, little endian", utf16(kHead + kTail, false, true), "UTF-16", 0},
      {"UTF-16, big endian", utf16(kHead + kTail, true, true), "UTF-16", 0},
      {"UTF-16 without a mark", utf16(kHead + kTail, false, false), "UTF-16", 0},
      {"carriage returns alone", returns, "carriage returns", 0},
      {"carriage returns and line feeds", "import torch\r\n" + kTail, "", 1},
      {"one line", "import torch", "", 0},
      {"a bracket left open", kHead + "def f(x:\n    return (\n" + kTail, "line 2 could not be", 1},
      {"a conflict",
       kHead + "def f(y):\n    a = 1\n<<<<<<< HEAD\n    y.item()\n||||||| base\n    y.item()\n"
               "=======\n    y.item()\n>>>>>>> other\n    return y.item()\n",
       "line 4 begins a conflict", 3},
      {"a heading that looks like one's middle", kHead + "'''\nA\n=======\n'''" + kTail, "", 1},
  };
  for (const Row& row : rows) {
    const FileFacts facts = analyze_file("a.py", row.bytes, item_rule());
    CHECK_MESSAGE(says(facts.note, row.note), row.what << ": " << facts.note);
    CHECK_MESSAGE(facts.candidates.size() == row.found, row.what);
  }
}

TEST_CASE("how much could be read counts each broken place once") {
  std::string code = kHead;
  for (int i = 0; i < 50; ++i) code += "def f" + std::to_string(i) + "(y):\n    return y.item()\n";
  const FileFacts facts =
      analyze_file("a.py", code + "def g(y:\n    return y.item(\n", item_rule());
  CHECK(facts.candidates.size() >= 50);
  CHECK(facts.readable > 0.9);
  CHECK(facts.readable < 1);
}

TEST_CASE(
    "what #if 0, #ifdef DEBUG, another variant and the #else of #ifdef USE_CUDA take out is no "
    "code") {
  const auto block = [](const std::string& name) {
    return "void " + name + "(torch::Tensor y) {\n  float a = y.item<float>();\n}\n";
  };
  struct Row {
    const char* what;
    std::string code;
    size_t found;
  };
  const Row rows[] = {
      {"left out", "#if 0\n" + block("f") + "#endif\n" + block("g"), 1},
      {"with another part", "#if 0\n" + block("f") + "#else\n" + block("g") + "#endif\n", 1},
      {"with another test", "#if 0\n" + block("f") + "#elif defined(A)\n" + block("g") + "#endif\n",
       1},
      {"around others",
       "# if 0 // old\n#ifdef A\n" + block("f") + "#else\n" + block("g") + "#endif\n# endif\n" +
           block("h"),
       1},
      {"within one", "#ifdef A\n#if 0\n" + block("f") + "#endif\n" + block("g") + "#endif\n", 1},
      {"a number that begins so", "#if 01\n" + block("f") + "#endif\n", 1},
      {"without an end", "#if 0\n" + block("f"), 1},
      {"for debugging", "#ifdef DEBUG\n" + block("f") + "#endif\n" + block("g"), 1},
      {"to take the time",
       "#if MEASURE_TIME > 0\n" + block("f") + "#else\n" + block("g") + "#endif\n", 1},
      {"to see how fast it is", "#if PERF_KERNELS\n" + block("f") + "#endif\n" + block("g"), 1},
      {"to be fast", "#if HIGH_PERF\n" + block("f") + "#endif\n" + block("g"), 2},
      {"with assertions", "#ifndef NDEBUG\n" + block("f") + "#endif\n" + block("g"), 1},
      {"for what the file asks for",
       "#define PROFILE\n#if defined(PROFILE)\n" + block("f") + "#endif\n", 1},
      {"for one of two", "#if defined(DEBUG) || defined(A)\n" + block("f") + "#endif\n", 1},
      {"beside what has a device",
       "#ifdef USE_CUDA\n" + block("f") + "#else\n" + block("g") + "#endif\n" + block("h"), 2},
      {"for one device or the other",
       "#if defined(WITH_GPU)\n" + block("f") + "#elif defined(A)\n" + block("g") + "#else\n" +
           block("h") + "#endif\n",
       2},
      {"for the host in a kernel's file",
       "#ifdef __CUDA_ARCH__\n" + block("f") + "#else\n" + block("g") + "#endif\n", 2},
      {"without a feature of the device",
       "#ifdef MULTI_GPU\n" + block("f") + "#else\n" + block("g") + "#endif\n", 2},
      {"another variant",
       "#define KIND 3\n#if KIND == 1\n" + block("f") + "#elif KIND == 2\n" + block("g") +
           "#elif KIND == 3 // best\n" + block("h") + "#else\n" + block("i") + "#endif\n",
       1},
      {"behind the variant",
       "#define KIND 1 // fast\n#if KIND == 1\n" + block("f") + "#elif defined(A)\n" + block("g") +
           "#else\n" + block("h") + "#endif\n" + block("i"),
       2},
      {"what a switch is off for", "#define KEEP 0\n#if KEEP\n" + block("f") + "#endif\n", 0},
      {"a variant that is defined anew",
       "#define KIND 1\n#undef KIND\n#define KIND 2\n#if KIND == 1\n" + block("f") + "#endif\n", 1},
      {"a variant that others may choose",
       "#ifndef KIND\n#define KIND 2\n#endif\n#if KIND == 1\n" + block("f") + "#endif\n", 0},
      {"a variant that stands for one case",
       "#ifdef A\n#define KIND 2\n#endif\n#if KIND == 1\n" + block("f") + "#endif\n", 1},
      {"a variant of another file", "#if KIND == 1\n" + block("f") + "#endif\n", 1},
      {"without debugging", "#ifndef DEBUG\n" + block("f") + "#else\n" + block("g") + "#endif\n",
       2},
  };
  for (const Row& row : rows) {
    const FileFacts facts =
        analyze_file("a.cpp", "#include <torch/torch.h>\n" + row.code, item_rule());
    CHECK_MESSAGE(facts.candidates.size() == row.found, row.what);
  }
}

TEST_CASE("what the parser is given keeps bytes and lines in their places") {
  std::string comments;
  for (int i = 0; i < 100; ++i) comments += "  # x\n";
  const std::string end = "# its end: '''\n";
  struct Row {
    const char* what;
    std::string source;
    bool changed;
  };
  const Row rows[] = {{"short comments", "# a\n# b\nx = 1\n", false},
                      {"many comments", "x = 1\n" + comments + "y = 2\n", true},
                      {"at the end", "x = 1\n" + comments, true},
                      {"a string's last line", "x = '''\n" + comments + end, true},
                      {"zero bytes", std::string("x = '\0'\n", 8), true}};
  for (const Row& row : rows) {
    const std::string text = parsed_text(row.source, Grammar::python);
    CHECK_MESSAGE(text.empty() == !row.changed, row.what);
    if (text.empty()) continue;
    REQUIRE_MESSAGE(text.size() == row.source.size(), row.what);
    for (size_t at = 0; at < text.size(); ++at)
      CHECK((text[at] == '\n') == (row.source[at] == '\n'));
  }
  CHECK(parsed_text("x = '''\n" + comments + end, Grammar::python).ends_with(end));
}

TEST_CASE("launches with blanks in their brackets are joined for the parser") {
  const auto given = [](const char* source) { return parsed_text(source, Grammar::cuda); };
  CHECK(given("scale << <grid, 32 >> >(x);") == "scale <<< grid, 32 >>> (x);");
  CHECK(given("scale << < 1, 32 >>> (x);") == "scale <<<  1, 32 >>> (x);");
  CHECK(given("A<B<C<int>> > x; out << y;").empty());
  CHECK(given("out << <grid; x >> >(y)").empty());
}

TEST_CASE("notebooks that cannot be read say why") {
  struct Row {
    const char* what;
    std::string json, problem;
  };
  const std::string cells = R"("cells": [{"cell_type": "code", "source": "x = 1"}])";
  const Row rows[] = {{"whole", "{" + cells + "}", ""},
                      {"with a byte order mark", "\xef\xbb\xbf{" + cells + "}", ""},
                      {"NaN in its metadata",
                       R"({"metadata": {"a": NaN, "b": [-Infinity, "NaN"]}, )" + cells + "}", ""},
                      {"cut", "{" + cells, "not valid JSON"},
                      {"empty", "", "empty"},
                      {"text", "import torch\n", "not valid JSON"},
                      {"Latin-1", "{\"a\": \"caf\xe9\", " + cells + "}", "not UTF-8"},
                      {"half a pair", R"({"a": "\ud800", )" + cells + "}", "not valid JSON"},
                      {"an old version", R"({"worksheets": []})", "list of cells"}};
  for (const Row& row : rows) {
    const Notebook notebook = notebook_code(row.json);
    CHECK_MESSAGE(says(notebook.problem, row.problem), row.what << ": " << notebook.problem);
    CHECK_MESSAGE(notebook.code == (row.problem.empty() ? "x = 1\n" : ""), row.what);
  }
}

TEST_CASE("what only IPython understands is blanked out, Python in its cells is not") {
  struct Row {
    const char* cell;
    const char* code;
  };
  const Row rows[] = {{"%pip install a\\n", "              \n"},
                      {"  !ls\\n", "     \n"},
                      {"files = !ls -l\\n", "files = 0     \n"},
                      {"x.y?\\n", "    \n"},
                      {"?x\\n", "  \n"},
                      {"y = f(x)  # why?\\n", "y = f(x)  # why?\n"},
                      {"a = b != c\\n", "a = b != c\n"},
                      {"%%time\\nx = 1\\n", "      \nx = 1\n"},
                      {"%%capture out\\nx = 1\\n", "             \nx = 1\n"},
                      {"%%timeit -n 3\\nx = 1\\n", "             \nx = 1\n"},
                      {"%%bash\\nx = 1\\n", "      \n     \n"}};
  for (const Row& row : rows) {
    const std::string json =
        R"({"cells": [{"cell_type": "code", "source": ")" + std::string(row.cell) + R"("}]})";
    CHECK(notebook_code(json).code == row.code);
  }
}

TEST_CASE("a notebook's note counts lines by cell") {
  const std::string json = R"({"cells": [{"cell_type": "code", "source": "import torch\nx = 1"},)"
                           R"({"cell_type": "code", "source": "y = 1\nz = (\n"}]})";
  const RuleSet rules = item_rule();
  const SourceIndex index = SourceIndex::build({{"a.ipynb", "", json}}, rules, {});
  CHECK(index.files()[0]->note.starts_with("cell 2, line 2 could not be parsed"));
}
