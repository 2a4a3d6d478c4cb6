#include "report/present.h"

#include <doctest/doctest.h>

using namespace stallscope;

TEST_CASE("a finding that nothing could price says what was seen of it") {
  Finding finding;
  finding.status = FindingStatus::measured;
  CHECK(gain_text(finding) == "not measured");
  finding.evidence.push_back({.name = "host blocked", .value = 45.6e6, .unit = "ns"});
  CHECK(gain_text(finding) == "45.6 ms of host time seen, gain unknown");
  finding.evidence.push_back({.name = "device idle", .value = 2e6, .unit = "ns"});
  CHECK(gain_text(finding) == "2 ms seen, gain unknown");
  finding.status = FindingStatus::static_only;
  CHECK(gain_text(finding) == "not measured");
}
