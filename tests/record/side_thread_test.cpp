#include "record/side_thread.h"

#include <doctest/doctest.h>

#include <ctime>
#include <stdexcept>

using namespace stallscope;

TEST_CASE("a side thread runs until it is stopped, however long it meant to sleep") {
  constexpr Ns kHour = 3'600'000'000'000;
  int turns = 0;
  SideThread thread("watching ended", [&turns](SideThread& self) {
    do ++turns;
    while (self.wait_until(clock_now(CLOCK_MONOTONIC) + kHour));
  });
  CHECK(thread.stop().empty());
  CHECK(turns == 1);
}

TEST_CASE("an exception ends the side thread alone, and is told") {
  SideThread thread("watching ended", [](SideThread&) { throw std::runtime_error("no process"); });
  CHECK(thread.stop() == "watching ended: no process");
  CHECK(thread.stop() == "watching ended: no process");  // stopping twice is harmless
}
