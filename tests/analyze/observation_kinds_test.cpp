#include <doctest/doctest.h>

#include <set>

#include "analyze/summary.h"

using namespace stallscope;

TEST_CASE("kinds and the fields within a kind have distinct names and a meaning each") {
  std::set<std::string_view> kinds;
  for (const ObservationKind& kind : observation_kinds()) {
    CAPTURE(kind.name);
    CHECK(kinds.insert(kind.name).second);
    CHECK_FALSE(kind.meaning.empty());
    std::set<std::string_view> fields;
    for (const auto& [name, meaning] : kind.fields) {
      CAPTURE(name);
      CHECK(fields.insert(name).second);
      CHECK_FALSE(meaning.empty());
    }
    CHECK(fields.contains("idle_ns"));
  }
  CHECK(kinds.contains("host-sync"));
}
