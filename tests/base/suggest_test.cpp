#include "base/suggest.h"

#include <doctest/doctest.h>

#include <vector>

using namespace stallscope;

TEST_CASE("the nearest word is suggested, and nothing when none is near") {
  const std::vector<std::string_view> commands = {"report", "run", "rules", "lint", "dump"};
  struct Case {
    const char *word, *expected;
  };
  for (const Case& c : {Case{"reprot", "report"},
                        {"dmup", "dump"},
                        {"frobnicate", ""},
                        {"x", ""},
                        {"rule", "rules"}})
    CHECK_MESSAGE(nearest_word(c.word, commands) == c.expected, c.word);
  CHECK(suggestion("reprot", commands).find("'report'") != std::string::npos);
  CHECK(suggestion("frobnicate", commands).empty());
}
