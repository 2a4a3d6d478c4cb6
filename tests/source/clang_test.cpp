// libclang's part of C++: flags, types by place, and calls that macros hide.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "source/clang/flags.h"
#include "source/clang/layer.h"
#include "source/extract/file_facts.h"
#include "source/match/macro_calls.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

RuleSet rule_for(const std::string& call, const std::string& on) {
  auto condition = std::make_shared<SourceCondition>();
  SourceClause clause;
  clause.calls = {call};
  clause.on = on;
  if (!on.empty()) clause.certainty = "unknown";
  condition->any.push_back(clause);
  const std::vector<SourceRule> rules = {{"rule", {"cpp", "cuda"}, condition, true, true}};
  auto compiled = RuleSet::compile(rules);
  REQUIRE(compiled.ok());
  return std::move(compiled.value());
}

ClangOptions with_stubs(const std::string& root) {
  ClangOptions out;
  out.on = true;
  out.stubs = STALLSCOPE_SOURCE_DIR "/rules/stubs";
  out.root = root;
  return out;
}

/// What libclang says about one text; null without the library.
std::unique_ptr<ClangTypes> types_of(const std::string& name, const std::string& text) {
  const TemporaryFolder folder("clang-test");
  const std::vector<ClangFile> files = {{folder.path() + "/" + name, text}};
  ClangLayer layer = read_clang_types(files, with_stubs(folder.path()));
  return std::move(layer.types.front());
}

TypeClass type_of(const ClangTypes& types, const std::string& text, const std::string& expression) {
  const auto at = static_cast<uint32_t>(text.find(expression));
  const TypedRange* found = types.at(at, at + static_cast<uint32_t>(expression.size()));
  return found ? found->type : TypeClass::unknown;
}

}  // namespace

TEST_CASE("of a compile command what decides meaning is kept, and nothing else") {
  const std::vector<std::string> words = split_command(
      R"(nvcc -Iinc -isystem /abs "-DNAME=a b" -D X -isystem=sys -fplugin=evil.so -std=c++17 )"
      R"(-include pre.h -include-pch bad.pch -o out.o -Xcompiler -fPIC -c a.cu)");
  const std::vector<std::string> kept = meaningful_arguments(words, "/p");
  const std::vector<std::string> expected = {"-I/p/inc", "-isystem", "/abs",   "-DNAME=a b",
                                             "-DX",      "-isystem", "/p/sys", "-std=c++17",
                                             "-include", "/p/pre.h"};
  CHECK(kept == expected);
}

TEST_CASE("compile_commands.json is found above a file and in build folders") {
  const TemporaryFolder folder("clang-test");
  const std::string& root = folder.path();
  fs::create_directories(root + "/build");
  fs::create_directories(root + "/src/deep");
  REQUIRE(
      write_file(root + "/build/compile_commands.json",
                 R"([{"directory": ")" + root +
                     R"(/build", "file": "../src/a.cpp", "command": "c++ -DA=1 -c ../src/a.cpp"},
                         {"directory": "/", "arguments": ["c++", 7], "file": ["x"]}, 3])")
          .ok());
  ClangFlagFinder flags(root, "/stubs");
  const auto has = [&](const std::string& path, const std::string& wanted) {
    const ClangFlags found = flags.of(root + path, "int main() {}");
    return std::ranges::find(found.arguments, wanted) != found.arguments.end();
  };
  CHECK(has("/src/a.cpp", "-DA=1"));
  CHECK(has("/src/deep/new.h", "-DA=1"));  // a neighbour's
  CHECK(!has("/src/a.cpp", "-DNDEBUG"));
  CHECK(has("/src/kernel.cu", "--cuda-host-only"));
  REQUIRE(write_file(root + "/build/compile_commands.json", "{").ok());
  CHECK(ClangFlagFinder(root, "/stubs").of(root + "/src/a.cpp", "").arguments.size() > 3);
}

TEST_CASE("a file that nobody compiles is read as C++17 unless it may need C++20") {
  const TemporaryFolder folder("clang-test");
  ClangFlagFinder flags(folder.path(), "/stubs");
  const auto is_cpp20 = [&](const std::string& text) {
    const ClangFlags found = flags.of(folder.path() + "/a.cpp", text);
    const bool newer = std::ranges::find(found.arguments, "-std=c++20") != found.arguments.end();
    const bool older = std::ranges::find(found.arguments, "-std=c++17") != found.arguments.end();
    CHECK(newer != older);
    return newer;
  };
  CHECK_FALSE(is_cpp20("#include <torch/torch.h>\nauto x = torch::ones({2}).requires_grad_();"));
  CHECK(is_cpp20("#include <span>\n"));
  CHECK(is_cpp20("template <typename T> requires std::integral<T> T f(T x);"));
  CHECK(is_cpp20("#include \"model.h\"\n"));  // which may
}

TEST_CASE("types come back from bytes as they were, and damaged bytes are refused") {
  ClangTypes types;
  types.names = {"", "Metric", "cudaDeviceSynchronize"};
  types.types = {{1, 4, TypeClass::own, 1}, {7, 9, TypeClass::tensor, 0}};
  types.calls = {{1, 9, 2}};
  types.hidden = {{20, 26, 2, false, {}, {{21, 24, 0}, {0, 0, 1}}}};
  types.headers = {{"/a.h", 12, 34}};
  const std::string bytes = to_bytes(types);
  ClangTypes read;
  REQUIRE(from_bytes(bytes, read));
  CHECK(to_bytes(read) == bytes);
  CHECK(read.at(7, 9)->type == TypeClass::tensor);
  CHECK(read.at(7, 8) == nullptr);
  CHECK(read.callee(1, 9) == "cudaDeviceSynchronize");
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(!from_bytes(std::string_view(bytes).substr(0, size), read));
  types.calls[0].name = 9;  // there is no such name
  CHECK(!from_bytes(to_bytes(types), read));
}

TEST_CASE("a hidden call stands before the statement that uses its macro") {
  const RuleSet rules = rule_for("cudaMemcpy", "");
  const std::string text =
      "#define FETCH(d, s) cudaMemcpy(d, s, 4, cudaMemcpyDeviceToHost)\n"
      "void f(float* a, float* b, bool on) {\n  a += 1;\n  if (on) FETCH(a, b);\n  b += 1;\n}\n";
  CHECK(hiding_macros(text, rules) == std::vector<std::string>{"FETCH"});
  CHECK(uses_any(text, {"FETCH"}));
  CHECK(!uses_any(text.substr(0, text.find('\n')), {"FETCH"}));
  ClangTypes types;
  types.names = {"", "cudaMemcpy", "cudaMemcpyDeviceToHost"};
  const auto use = static_cast<uint32_t>(text.find("FETCH(a"));
  types.hidden = {{use, use + 11, 1, false, {}, {{use + 6, use + 7, 0}, {0, 0, 2}}}};
  Ast ast = parse_source(text, Grammar::cuda);
  const size_t before = ast.size();
  insert_hidden_calls(ast, types, rules);
  REQUIRE(ast.size() == before + 4);
  // Links, parents and ranges agree with the order of the nodes.
  NodeId found = kNoNode;
  for (NodeId id = 0; id < ast.size(); ++id) {
    CHECK(ast[id].end > id);
    NodeId next = id + 1;
    for (NodeId c : children(ast, id)) {
      CHECK(c == next);
      CHECK(ast[c].parent == id);
      next = ast[c].end;
    }
    CHECK(next == ast[id].end);
    if (ast[id].kind == NodeKind::call && callee_name(ast, id) == "cudaMemcpy") found = id;
  }
  REQUIRE(found != kNoNode);
  CHECK(ast[ast[found].parent].kind == NodeKind::if_);
  CHECK(ast[found].first_line == 4);
  const NodeId first = ast.child(found, Role::argument);
  CHECK(ast.slice(first) == "a");
  CHECK(ast.slice(ast[first].next) == "cudaMemcpyDeviceToHost");
}

TEST_CASE("expressions have the types that libclang finds with our stubs") {
  if (find_libclang({}).empty()) {
    MESSAGE("libclang is not installed: not tested");
    return;
  }
  const std::string text = R"(#include <torch/torch.h>
#include <missing/of/this/project.h>
using T = torch::Tensor;
struct Metric { float item() const { return 0; } };
struct NetImpl : torch::nn::Module { torch::Tensor forward(torch::Tensor x) { return x; } };
TORCH_MODULE(Net);
int run(Unknown& unknown, T alias) {
  Net model;
  auto loss = model->forward(alias);
  auto count = loss.size(0);
  Metric metric;
  torch::optim::Adam optimizer(model->parameters(), 0.1);
  auto stream = c10::cuda::getCurrentCUDAStream();
  auto parts = loss.chunk(2);
  use(unknown, metric.item(), stream, parts, count, optimizer, loss);
  return 0;
}
)";
  const auto types = types_of("a.cpp", text);
  REQUIRE(types);
  const auto is = [&](const char* expression) { return type_of(*types, text, expression); };
  CHECK(is("loss = model") == TypeClass::unknown);  // no expression
  CHECK(is("model->forward(alias)") == TypeClass::tensor);
  CHECK(is("loss.size(0)") == TypeClass::number);
  CHECK(is("loss.chunk(2)") == TypeClass::tensor_list);
  CHECK(is("metric.item()") == TypeClass::number);
  const auto named = [&](const char* name) {  // as it is declared
    const size_t at = text.find(std::string(name) + ";") != std::string::npos
                          ? text.find(std::string(name) + ";")
                          : text.find(std::string(name) + " =");
    const TypedRange* found =
        types->at(static_cast<uint32_t>(at), static_cast<uint32_t>(at + std::string(name).size()));
    return found ? found->type : TypeClass::unknown;
  };
  CHECK(named("loss") == TypeClass::tensor);
  CHECK(named("stream") == TypeClass::stream);
  CHECK(named("metric") == TypeClass::own);
  CHECK(named("model") == TypeClass::module);
  CHECK(is("unknown") == TypeClass::unknown);
}

TEST_CASE("a file that libclang cannot read costs its own types only") {
  if (find_libclang({}).empty()) {
    MESSAGE("libclang is not installed: not tested");
    return;
  }
  const TemporaryFolder folder("clang-test");
  const std::string& root = folder.path();
  const std::vector<ClangFile> files = {
      {root + "/endless.cpp", "#include \"/dev/zero\"\nint a;\n"},
      {root + "/good.cpp", "int twice(int n) { return n * 2; }\n"},
      {root + "/binary.cpp", std::string("\xff\xfe\x01 int \x80", 9)},
  };
  const ClangLayer layer = read_clang_types(files, with_stubs(root));
  CHECK(!layer.types[0]);
  REQUIRE(layer.types[1]);
  CHECK(type_of(*layer.types[1], files[1].text, "n * 2") == TypeClass::number);
  CHECK(layer.note.find("endless.cpp") != std::string::npos);
  ClangOptions none = with_stubs(root);
  none.library = root + "/libclang.so";
  const ClangLayer missing = read_clang_types(files, none);
  CHECK(!missing.types[1]);
  CHECK(missing.note.find("libclang was not found") != std::string::npos);
  REQUIRE(write_file(none.library, "no library").ok());
  CHECK(read_clang_types(files, none).note.find("libclang cannot be used") != std::string::npos);
}

TEST_CASE("time can be bounded, and what libclang gave up on is not tried again") {
  if (find_libclang({}).empty()) {
    MESSAGE("libclang is not installed: not tested");
    return;
  }
  const TemporaryFolder folder("clang-test");
  ClangOptions options = with_stubs(folder.path());
  options.within = std::chrono::milliseconds(1);
  options.when_late = "in no time";
  const std::vector<ClangFile> good = {{folder.path() + "/good.cpp", "int twice(int n);\n"}};
  const ClangLayer late = read_clang_types(good, options);
  CHECK(!late.types[0]);
  CHECK(late.note.find("1 file of 1 had no types in no time") != std::string::npos);
  options.cache_folder = folder.path() + "/cache";
  fs::create_directory(options.cache_folder);
  const std::vector<ClangFile> endless = {
      {folder.path() + "/endless.cpp", "#include \"/dev/zero\"\n"}};
  const auto gives_up = [&](std::optional<std::chrono::milliseconds> within) {
    options.within = within;
    return read_clang_types(endless, options).note.find("gave up on 1 file") != std::string::npos;
  };
  // Were it read once more, the time would not suffice. On a machine that is too busy to start
  // libclang at all nothing is kept: then once again.
  bool kept = false;
  for (int i = 0; i < 5 && !kept; ++i) {
    CHECK(gives_up({}));
    kept = gives_up(std::chrono::milliseconds(1));
  }
  CHECK(kept);
  const std::vector<ClangFile> changed = {{endless[0].path, endless[0].text + "int a;\n"}};
  CHECK(read_clang_types(changed, options).note.find("1 file of 1 had no types") !=
        std::string::npos);
}

TEST_CASE("of PyTorch's own headers those that only bodies of functions ask for are not read") {
  if (find_libclang({}).empty()) {
    MESSAGE("libclang is not installed: not tested");
    return;
  }
  const TemporaryFolder folder("clang-test");
  const std::string headers = folder.path() + "/include";
  fs::create_directories(headers + "/torch");
  fs::create_directories(headers + "/ATen/ops");
  const std::map<std::string, std::string> texts = {
      {"/torch/torch.h", "#include <ATen/ATen.h>\nnamespace torch { using at::Tensor; }\n"},
      {"/ATen/ATen.h",
       "#pragma once\n#include <ATen/ops/abs_ops.h>\n#include <ATen/ops/abs.h>\n"
       "#include <ATen/NativeFunctions.h>\n"},
      {"/ATen/ops/abs.h",
       "namespace at {\nstruct Tensor { double norm() const; };\n"
       "inline Tensor abs(const Tensor& of) { return _ops::abs::call(of); }\n}\n"},
      {"/ATen/ops/abs_ops.h", "#define OPERATORS_WERE_READ 1\n"},
      {"/ATen/NativeFunctions.h", "#define NATIVE_FUNCTIONS_WERE_READ 1\n"},
  };
  for (const auto& [name, text] : texts) REQUIRE(write_file(headers + name, text).ok());
  const std::vector<ClangFile> files = {
      {folder.path() + "/a.cpp",
       "#include <torch/torch.h>\n"
       "#ifndef OPERATORS_WERE_READ\n"
       "void f(torch::Tensor x) { at::abs(x); }\n#endif\n"
       "#ifndef NATIVE_FUNCTIONS_WERE_READ\n"
       "double g(torch::Tensor y) { return y.norm(); }\n#endif\n"}};
  const ClangLayer layer = read_clang_types(files, with_stubs(folder.path()));
  INFO(layer.note);
  REQUIRE(layer.types[0]);
  CHECK(layer.types[0]->real_headers);
  CHECK(type_of(*layer.types[0], files[0].text, "at::abs(x)") == TypeClass::tensor);
  CHECK(type_of(*layer.types[0], files[0].text, "y.norm()") == TypeClass::number);
}
