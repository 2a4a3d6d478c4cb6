// Files of C++ as libclang is given them: without the bodies in which no rule asks for anything.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "source/extract/emptied_bodies.h"

using namespace stallscope;

namespace {

std::string emptied(std::string_view text) {
  return with_emptied_bodies(text, [](const Node&) { return true; });
}

}  // namespace

TEST_CASE("bodies and initialisers go, every other byte keeps its place") {
  const std::string_view text =
      "struct Net : Module {\n"
      "  explicit Net(int n) noexcept : std::string(), fc{n, 2}, name(\"{\") {\n"
      "    add(fc);\n"
      "  }\n"
      "  Linear fc;\n"
      "};\n"
      "ns::Made build(int n) { return ns::Made(n); }\n";
  const std::string out = emptied(text);
  CHECK(out.size() == text.size());
  CHECK(std::ranges::count(out, '\n') == std::ranges::count(text, '\n'));
  CHECK(out.find("add(fc)") == std::string::npos);
  CHECK(out.find("fc{n, 2}") == std::string::npos);
  CHECK(out.find("explicit Net(int n) noexcept ") == text.find("explicit Net(int n) noexcept "));
  CHECK(out.find("Linear fc;") == text.find("Linear fc;"));
  // A member is declared, what is defined outside of classes keeps its braces.
  CHECK(out[text.find("  }\n  Linear") + 2] == ';');
  const size_t build = text.find("ns::Made build");
  CHECK(out.substr(build).starts_with("ns::Made build(int n) {"));
  CHECK(out.ends_with("}\n"));
  CHECK(out.find("return") == std::string::npos);
}

TEST_CASE("what only the body decides keeps it") {
  for (const std::string_view text :
       {"auto made() { return Net(); }\n", "constexpr int size() { return 3; }\n",
        "decltype(auto) get() { return (x); }\n",
        "int f() {\n#ifdef A\n  return g(\n#else\n  return h(\n#endif\n  1);\n}\n",
        "int declared();\n", "struct A { A() = default; };\n"})
    CHECK(emptied(text) == text);
}

TEST_CASE("functions that are asked for keep their bodies") {
  const std::string_view text = "void a() { x(); }\nvoid b() { y(); }\n";
  const std::string out =
      with_emptied_bodies(text, [](const Node& function) { return function.first_line == 1; });
  CHECK(out == "void a() {      }\nvoid b() { y(); }\n");
}

TEST_CASE("text that breaks off stays as it is") {
  for (const std::string_view text :
       {"void a() {", "struct A { A() : b(", "A::A() : b(1) {}}}}", "{", ""})
    CHECK(emptied(text).size() == text.size());
}
