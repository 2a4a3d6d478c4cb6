#include "import/symbolize.h"

#include <doctest/doctest.h>
#include <link.h>

#include <cstring>
#include <string>

#include "base/install_tree.h"

using namespace stallscope;

namespace symbolize_test {

[[gnu::noinline]] uint64_t here() {
  return reinterpret_cast<uint64_t>(__builtin_return_address(0));
}
[[gnu::always_inline]] inline uint64_t inlined_caller() {
  return here();  // line of the inlined frame
}
constexpr uint32_t kInlinedLine = __LINE__ - 2;
[[gnu::noinline]] uint64_t outer_caller() {
  const uint64_t address = inlined_caller();
  return address + (address == 0 ? 1 : 0);  // keeps the call from becoming a tail call
}
constexpr uint32_t kOuterLine = __LINE__ - 3;

}  // namespace symbolize_test

namespace {

/// Address in this program's file of an address in memory.
uint64_t file_address(uint64_t address) {
  struct Find {
    uint64_t address, bias;
  } find{address, 0};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Find*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const uint64_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_LOAD && wanted->address >= begin &&
              wanted->address < begin + header.p_memsz)
            wanted->bias = info->dlpi_addr;
        }
        return 0;
      },
      &find);
  return address - find.bias;
}

}  // namespace

TEST_CASE("an address gives function, file and line, inlined callers included") {
  const std::string program = executable_path();
  const NativeAddress place{.module_path = program,
                            .build_id = {},
                            .address = file_address(symbolize_test::outer_caller())};
  RunSymbols symbols;
  const std::vector<SymbolFrame> frames = symbols.frames(place);
  REQUIRE(frames.size() == 2);
  // Clang's line tables name what was inlined without its namespace.
  CHECK(frames[0].function.ends_with("inlined_caller"));
  CHECK(frames[0].line == symbolize_test::kInlinedLine);
  CHECK(frames[0].file.ends_with("tests/import/symbolize_test.cpp"));
  CHECK(frames[1].function == "symbolize_test::outer_caller");
  CHECK(frames[1].line == symbolize_test::kOuterLine);

  // What was found is kept: without the program the answer is the same.
  RunSymbols elsewhere;
  elsewhere.load(symbols.to_json());
  CHECK(elsewhere.frames(place) == frames);
  CHECK_FALSE(elsewhere.changed());
}

TEST_CASE("what has no symbols is named by module and address") {
  RunSymbols symbols;
  struct Case {
    NativeAddress place;
    const char* name;
  };
  const Case cases[] = {
      {{.module_path = "/no/such/lib.so.1", .build_id = {}, .address = 0x1234}, "lib.so.1+0x1234"},
      {{.module_path = "/no/such/lib.so.1", .build_id = "00ff00ff", .address = 16},
       "lib.so.1+0x10"},
      {{.module_path = "/dev/zero", .build_id = {}, .address = 1}, "zero+0x1"},
      {{.module_path = "[vdso]", .build_id = {}, .address = 5}, "[vdso]+0x5"},
      {{.module_path = "", .build_id = "../../../etc/passwd", .address = 5}, "unknown+0x5"},
  };
  for (const Case& c : cases) {
    const std::vector<SymbolFrame>& frames = symbols.frames(c.place);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].function == c.name);
    CHECK(frames[0].line == 0);
  }
  CHECK_FALSE(symbols.missing().empty());
}

TEST_CASE("a program with another build id is not the one that ran") {
  const std::string program = executable_path();
  CHECK(ObjectSymbols::open(program, "") != nullptr);
  CHECK(ObjectSymbols::open(program, "0123456789abcdef0123456789abcdef01234567") == nullptr);
}

TEST_CASE("damaged symbol files are ignored") {
  for (const char* text : {"", "[]", "{", "{\"symbols\":7}", "{\"symbols\":{\"a+0x1\":[[1,2,3]]}}",
                           "{\"symbols\":{\"a+0x1\":\"x\"}}", "{\"symbols\":{\"a+0x1\":[]}}"}) {
    RunSymbols symbols;
    symbols.load(text);
    CHECK(symbols.to_json().find("a+0x1") == std::string::npos);
  }
}

TEST_CASE("function names lose parameters, return types and clones") {
  struct Case {
    const char *demangled, *plain;
  };
  for (const Case& c : {
           Case{"main", "main"},
           {"ns::Type::method(int, char const*) const", "ns::Type::method"},
           {"void fill<float>(float*, unsigned long)", "fill<float>"},
           {"(anonymous namespace)::step(int)", "(anonymous namespace)::step"},
           {"ns::(anonymous namespace)::step(int)", "ns::(anonymous namespace)::step"},
           {"Type::operator()(int) const", "Type::operator()"},
           {"bool operator<<int>(A<int> const&, A<int> const&)", "operator<<int>"},
           {"std::vector<int, std::allocator<int> >::size() const",
            "std::vector<int, std::allocator<int> >::size"},
           {"train(int)::{lambda(int)#1}::operator()(int) const",
            "train(int)::{lambda(int)#1}::operator()"},
           {"work(int) [clone .isra.0]", "work"},
           {"", ""},
           {"(", "("},
           {"f(", "f"},
       })
    CHECK_MESSAGE(plain_function_name(c.demangled) == c.plain, c.demangled);
}
