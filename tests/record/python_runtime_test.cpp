#include "record/python_runtime.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace stallscope;

// Searches follow each other without a pause, so that most of these lives end in the middle of one.
TEST_CASE("an interpreter that ends while it is looked at is not said to be unreadable") {
  constexpr int kLives = 20;
  int found = 0;
  for (int life = 0; life < kLives; ++life) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::execlp("python3", "python3", "-S", "-c", "pass", nullptr);
      ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      const PythonSearch search = find_python(child);
      CAPTURE(search.reason);
      CHECK(search.presence != PythonPresence::unreadable);
      found += search.presence == PythonPresence::found ? 1 : 0;
    }
    REQUIRE(WIFEXITED(status));
    REQUIRE_MESSAGE(WEXITSTATUS(status) == 0, "python3 cannot be started");
  }
  CHECK(found > 0);
}
