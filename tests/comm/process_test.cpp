// Ranks as processes: forked children that report by their exit code.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "checks.h"

namespace stallscope::comm {
namespace {

using std::chrono::milliseconds;

std::string unique_name(const char* what) {
  return std::string("test-") + what + "-" + std::to_string(getpid());
}

template <typename Body>
pid_t child(Body body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string wrong = body();
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
    _exit(wrong.empty() ? 0 : 1);
  }
  return pid;
}

int exit_code(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string join_and_check(const std::string& name, int rank, int size) {
  auto c = make_shared_memory({.name = name, .rank = rank, .size = size});
  return c.ok() ? check_all(**c) : c.error().to_string();
}

bool object_exists(const std::string& name) {
  return std::filesystem::exists("/dev/shm/stallscope-comm-" + name);
}

TEST_CASE("collectives between processes") {
  const std::string name = unique_name("group");
  const pid_t other = child([&] { return join_and_check(name, 1, 2); });
  CHECK(join_and_check(name, 0, 2) == "");
  CHECK(exit_code(other) == 0);
  CHECK_FALSE(object_exists(name));
}

TEST_CASE("a rank killed in the middle ends the others' wait, with its name") {
  const std::string name = unique_name("killed");
  const pid_t other = child([&]() -> std::string {
    auto c = make_shared_memory({.name = name, .rank = 1, .size = 2});
    if (!c.ok() || !(*c)->barrier().ok()) return "could not start";
    raise(SIGKILL);
    return "";
  });
  auto c = make_shared_memory({.name = name, .rank = 0, .size = 2});
  REQUIRE(c.ok());
  REQUIRE((*c)->barrier().ok());
  std::vector<float> data(1 << 20);
  const auto before = std::chrono::steady_clock::now();
  const Status status = (*c)->all_reduce<float>(data);
  const auto waited = std::chrono::steady_clock::now() - before;
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.find("all_reduce on group " + name + ": rank 1 (pid " +
                                    std::to_string(other) + ") has ended") != std::string::npos);
  CHECK(waited < std::chrono::seconds(5));
  CHECK(exit_code(other) == 128 + SIGKILL);
}

TEST_CASE("what a killed run left under the same name is replaced") {
  const std::string name = unique_name("stale");
  // Rank 0 of a group whose rank 1 never comes: killed while it waits, its object stays.
  const pid_t dead = child([&] { return join_and_check(name, 0, 2); });
  for (int i = 0; i < 2000 && !object_exists(name); ++i) usleep(1000);
  REQUIRE(object_exists(name));
  usleep(5000);
  kill(dead, SIGKILL);
  REQUIRE(exit_code(dead) == 128 + SIGKILL);
  REQUIRE(object_exists(name));

  const pid_t other = child([&] { return join_and_check(name, 1, 2); });
  usleep(5000);  // rank 1 meets the leftover first
  CHECK(join_and_check(name, 0, 2) == "");
  CHECK(exit_code(other) == 0);
  CHECK_FALSE(object_exists(name));
}

TEST_CASE("what a killed run left under another name is removed by the next") {
  const std::string left = unique_name("left"), living = unique_name("living");
  auto wait_for_others = [](const std::string& name) { return join_and_check(name, 0, 2); };
  const pid_t dead = child([&] { return wait_for_others(left); });
  const pid_t alive = child([&] { return wait_for_others(living); });
  for (int i = 0; i < 2000 && !(object_exists(left) && object_exists(living)); ++i) usleep(1000);
  usleep(5000);
  kill(dead, SIGKILL);
  REQUIRE(exit_code(dead) == 128 + SIGKILL);
  auto run = [] { CHECK(join_and_check(unique_name("next"), 0, 1) == ""); };
  run();
  CHECK(object_exists(left));  // too young: its creator might not have signed it yet
  for (const std::string& name : {left, living}) {
    const std::string path = "/dev/shm/stallscope-comm-" + name;
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::minutes(1));
  }
  run();
  CHECK_FALSE(object_exists(left));
  CHECK(object_exists(living));
  kill(alive, SIGKILL);
  exit_code(alive);
  run();
  CHECK_FALSE(object_exists(living));
}

TEST_CASE("a group that lives is not taken over, one that stays away is named") {
  const std::string name = unique_name("alive");
  const pid_t first = child([&]() -> std::string {
    const auto c =
        make_shared_memory({.name = name, .rank = 0, .size = 2, .timeout = milliseconds(400)});
    if (c.ok()) return "joined alone";
    return c.error().message.find("rank 1 of 2 did not join") != std::string::npos
               ? ""
               : c.error().message;
  });
  for (int i = 0; i < 2000 && !object_exists(name); ++i) usleep(1000);
  usleep(5000);
  const auto second = make_shared_memory({.name = name, .rank = 0, .size = 2});
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("still lives") != std::string::npos);
  CHECK(exit_code(first) == 0);
  CHECK_FALSE(object_exists(name));
}

}  // namespace
}  // namespace stallscope::comm
