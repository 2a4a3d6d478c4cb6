#include "record/child.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>

#include "base/temporary_folder.h"
#include "record/environment.h"

using namespace stallscope;

namespace {

Result<ChildEnd> shell(const std::string& script, const ChildTick& tick = {}) {
  return run_child({{"/bin/sh", "-c", script}, current_environment()}, tick);
}

}  // namespace

TEST_CASE("a child's end is told as a shell tells it") {
  struct Case {
    const char* script;
    int code;
  };
  for (const Case& c :
       {Case{"exit 0", 0}, {"exit 42", 42}, {"kill -9 $$", 137}, {"kill -15 $$", 143}}) {
    const Result<ChildEnd> end = shell(c.script);
    REQUIRE(end.ok());
    CHECK_MESSAGE(end->shell_exit_code() == c.code, c.script);
    CHECK_FALSE(end->interrupted);
    CHECK(end->duration > 0);
  }
}

TEST_CASE("a program that cannot be started is an error") {
  for (const char* program : {"/no/such/program", "/etc/passwd", "/"}) {
    const Result<ChildEnd> end = run_child({{program}, {}});
    REQUIRE_FALSE(end.ok());
    CHECK(end.error().message.find(program) != std::string::npos);
  }
}

TEST_CASE("signals to the recorder reach the child") {
  // The child shows by its exit code that its handler ran, and by a file that it has one.
  const TemporaryFolder folder("child-test");
  const std::string ready = folder.path() + "/ready";
  ChildTick tick{5'000'000, [&](pid_t, Ns) {
                   if (::access(ready.c_str(), F_OK) == 0) ::kill(::getpid(), SIGTERM);
                 }};
  const Result<ChildEnd> end =
      shell("trap 'exit 33' TERM; : > " + ready +
                "; i=0; while [ $i -lt 3000 ]; do sleep 0.01; i=$((i+1)); done",
            tick);
  REQUIRE(end.ok());
  CHECK(end->exit_code == 33);
  CHECK(end->interrupted);
}

TEST_CASE("ignored signals and the signal mask are inherited") {
  std::signal(SIGUSR2, SIG_IGN);
  const Result<ChildEnd> end = shell(
      "grep -q '^SigIgn:.*[8-9a-f]..$' /proc/self/status && "
      "grep -q '^SigBlk:\t0000000000000000$' /proc/self/status");
  std::signal(SIGUSR2, SIG_DFL);
  REQUIRE(end.ok());
  CHECK(end->shell_exit_code() == 0);
}
