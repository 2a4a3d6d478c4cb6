#include "record/overhead.h"

#include <doctest/doctest.h>

#include <vector>

using namespace stallscope;

TEST_CASE("the paired difference is the mean of the pairs', with Student's interval") {
  // Differences 1 %, 2 %, 3 %: mean 2 %, s = 1 %, t(2) = 4.303, half width 4.303 * 1 % / sqrt(3).
  const std::vector<PairedRun> runs = {{101, 100}, {204, 200}, {309, 300}};
  const std::optional<PairedOverhead> overhead = paired_overhead(runs);
  REQUIRE(overhead.has_value());
  CHECK(overhead->difference == doctest::Approx(0.02));
  CHECK(overhead->high == doctest::Approx(0.02 + 0.0248434));
  CHECK(overhead->low == doctest::Approx(0.02 - 0.0248434));
  CHECK(overhead->pairs == 3);
}

TEST_CASE("too few pairs, or times of zero, give no interval") {
  CHECK_FALSE(paired_overhead({}).has_value());
  CHECK_FALSE(paired_overhead(std::vector<PairedRun>{{1, 1}}).has_value());
  CHECK_FALSE(paired_overhead(std::vector<PairedRun>{{1, 1}, {1, 0}}).has_value());
}
