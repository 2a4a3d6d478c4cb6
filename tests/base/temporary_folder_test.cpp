#include "base/temporary_folder.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "base/file.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

/// The folder that a process left which made one, filled it and ended by `signal`.
std::string left_by(int signal, const std::string& purpose) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(number, SIG_DFL);
    const TemporaryFolder folder(purpose);
    std::error_code error;
    fs::create_directories(folder.path() + "/deep/er", error);
    (void)write_file(folder.path() + "/deep/er/file", "x").ok();
    (void)!write(ends[1], folder.path().data(), folder.path().size());
    (void)raise(signal);
    _exit(0);
  }
  (void)close(ends[1]);
  char path[256] = {};
  const ssize_t size = read(ends[0], path, sizeof path);
  (void)close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == signal);
  REQUIRE(size > 0);
  return {path, static_cast<size_t>(size)};
}

}  // namespace

TEST_CASE("a temporary folder goes with its object, wherever that was moved") {
  std::string path;
  {
    TemporaryFolder first("base-test");
    path = first.path();
    REQUIRE(write_file(path + "/file", "x").ok());
    const TemporaryFolder second(std::move(first));
    CHECK(second.path() == path);
    const TemporaryFolder other("base-test");  // takes nothing that is in use
    CHECK(other.path() != path);
    CHECK(fs::exists(path + "/file"));
  }
  CHECK(!fs::exists(path));
}

TEST_CASE("a temporary folder is not left by a process that ends by a signal") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(signal);
    CHECK(!fs::exists(left_by(signal, "base-test")));
  }
  const std::string left = left_by(SIGKILL, "base-test");
  CHECK(fs::exists(left));
  const TemporaryFolder other("base-test-other");
  CHECK(fs::exists(left));
  const TemporaryFolder next("base-test");
  CHECK(!fs::exists(left));
}
