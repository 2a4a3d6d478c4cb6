// A child of the test sleeps in a function of a shared library; the parent names it.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <search.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "record/native_frames.h"
#include "record/object_file.h"

using namespace stallscope;

namespace {

// Stands for the next instruction's address, which an interpreter keeps in its frame.
constexpr uint64_t kInstruction = 0x5ca1ab1e00;

// The frame pointer of a thread that sleeps is not known: code that has none can be crossed.
// (This file is compiled without frame pointers; the address sanitizer would need them.)
#define NO_FRAME_POINTER noinline, no_sanitize_address

__attribute__((NO_FRAME_POINTER)) void sleep_long() {
  const timespec time{.tv_sec = 60, .tv_nsec = 0};
  ::nanosleep(&time, nullptr);
}

__attribute__((NO_FRAME_POINTER)) int compare(const void* a, const void* b) {
  sleep_long();
  return static_cast<int>(static_cast<const char*>(a) - static_cast<const char*>(b));
}

// lfind calls back into this program: code of the C library lies between two of its functions.
[[noreturn]] __attribute__((NO_FRAME_POINTER)) void sleep_below_library() {
  volatile uint64_t next = kInstruction + 2;
  char items[2] = {2, 1};
  size_t count = sizeof items;
  ::lfind(items, items, &count, 1, compare);
  ::_exit(next != 0 ? 0 : 1);
}

struct Child {
  pid_t pid = ::fork();
  Child() {
    if (pid == 0) sleep_below_library();
  }
  ~Child() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

uint64_t here(const void* address) {
  Dl_info info{};
  ::dladdr(address, &info);
  return reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(info.dli_fbase);
}

// Looks at the child; what it finds names modules that go away with it.
struct Look {
  pid_t pid;
  uint64_t runtime = 0;  // nothing of this program is an interpreter: its own lies below all code
  NativePermission permission{};
  NativeFrames frames{pid, runtime, permission};

  // Until the child sleeps: soon, but a loaded machine takes its time.
  std::vector<NativeFunction> at(uint64_t instruction) {
    for (int i = 0; i < 500; ++i) {
      NativeLook look;
      const auto found = frames.asleep(pid, look, instruction, i * 10'000'000LL, true);
      if (!found.empty() || instruction != kInstruction) return {found.begin(), found.end()};
      ::usleep(10'000);
    }
    return {};
  }
};

}  // namespace

TEST_CASE("native functions of a sleeping thread, by where they begin") {
  const Child child;
  Look look{child.pid};
  const std::vector<NativeFunction> found = look.at(kInstruction);
  const auto begins_at = [&](const void* function) {
    return std::ranges::any_of(
        found, [&](const NativeFunction& each) { return each.address == here(function); });
  };
  REQUIRE(found.size() >= 3);
  CHECK(begins_at(reinterpret_cast<const void*>(&sleep_long)));
  CHECK(begins_at(reinterpret_cast<const void*>(&compare)));
  CHECK(begins_at(reinterpret_cast<const void*>(&sleep_below_library)));
  CHECK(found.front().module->role == NativeModule::Role::c_library);
  CHECK_FALSE(found.front().module->object->build_id().empty());
}

TEST_CASE("nothing is said where the stack does not show the instruction") {
  const Child child;
  Look look{child.pid};
  REQUIRE_FALSE(look.at(kInstruction).empty());
  CHECK(look.at(kInstruction + 64).empty());
  CHECK(look.at(0).empty());
}

TEST_CASE(
    "the interpreter's own code ends the walk, and what is left is the C library's: nothing") {
  const Child child;
  Look look{child.pid};
  REQUIRE_FALSE(look.at(kInstruction).empty());
  // This program plays the interpreter: its data lies in it.
  static int data = 1;
  Look inside{child.pid, reinterpret_cast<uint64_t>(&data)};
  NativeLook at;
  CHECK(inside.frames.asleep(child.pid, at, kInstruction, 0, true).empty());
}

TEST_CASE("a file that is no object, or a cut one, is refused or has no tables") {
  char self[4096] = {};
  REQUIRE(::readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  const std::string path = "/tmp/stallscope-object-" + std::to_string(::getpid());
  const Result<std::string> whole = read_file(self, 1ULL << 30);
  REQUIRE(whole.ok());
  CHECK(ObjectFile::open("/nonexistent") == nullptr);
  CHECK(ObjectFile::open("/tmp") == nullptr);
  for (const size_t bytes : {size_t{0}, size_t{3}, size_t{63}, size_t{64}, size_t{200},
                             size_t{4096}, whole->size() / 2}) {
    REQUIRE(write_file(path, whole->substr(0, bytes)).ok());
    const auto object = ObjectFile::open(path);
    if (object) CHECK(object->rule_at(0).kind == UnwindRule::kUnknown);
  }
  ::unlink(path.c_str());
}
