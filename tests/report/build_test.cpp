#include "report/build.h"

#include <doctest/doctest.h>

#include "report/sample_report.h"

using namespace stallscope;

TEST_CASE("the headline is the slowest rank's") {
  const Report report = sample::full();
  REQUIRE(report.step_time);
  CHECK(report.step_time->median == report.summary.ranks[1].step_median);
}
