#include "base/units.h"

#include <doctest/doctest.h>

using namespace stallscope;

TEST_CASE("durations are given in the unit a person would say") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(1'800'000) == "1.8 ms");
  CHECK(format_duration(2'400'000'000.0) == "2.4 s");
  CHECK(format_duration(12'340) == "12.3 us");
  CHECK(format_duration(100'000'000) == "100 ms");
}

TEST_CASE("sizes and shares") {
  CHECK(format_bytes(16) == "16 B");
  CHECK(format_bytes(3'250'586) == "3.1 MiB");
  CHECK(format_fraction(0.1234) == "12.3 %");
}
