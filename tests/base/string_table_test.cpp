#include "base/string_table.h"

#include <doctest/doctest.h>

#include <string>

using stallscope::StringTable;

TEST_CASE("equal texts share an id, and ids give the text back after growth") {
  StringTable table;
  CHECK(table.intern("") == 0);
  for (int i = 0; i < 10'000; ++i) table.intern("name " + std::to_string(i));
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = "name " + std::to_string(i);
    CHECK(table.text(table.intern(text)) == text);
  }
  CHECK(table.size() == 10'001);
  CHECK(table.find("never seen") == 0);
  CHECK(table.text(99'999'999) == "");
}
