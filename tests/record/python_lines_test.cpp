#include "trace/python_lines.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace stallscope;

TEST_CASE("lines are found in every version's table") {
  struct Case {
    const char* what;
    LineTable format;
    std::vector<uint8_t> table;
    int64_t first, unit;
    uint32_t line;
  };
  const Case cases[] = {
      // 3.8: (bytes, lines) pairs; a negative second number goes back.
      {"first line", LineTable::lnotab, {6, 1, 8, 2}, 10, 0, 10},
      {"second entry", LineTable::lnotab, {6, 1, 8, 2}, 10, 3, 11},
      {"after the last", LineTable::lnotab, {6, 1, 8, 2}, 10, 50, 13},
      {"backwards", LineTable::lnotab, {2, 5, 2, 0xfd}, 10, 2, 12},
      // 3.10: (length, lines) ranges; -128 has no line.
      {"first range", LineTable::ranges, {4, 1, 4, 2}, 10, 1, 11},
      {"second range", LineTable::ranges, {4, 1, 4, 2}, 10, 2, 13},
      {"no line", LineTable::ranges, {4, 1, 4, 0x80}, 10, 2, 0},
      {"past the end", LineTable::ranges, {4, 1}, 10, 9, 0},
      // 3.11: short form (code 0, one unit), one line form (code 11, two units), no columns
      // (code 13, +5), long form (code 14, -3), none (code 15).
      {"short", LineTable::locations, {0x80, 0x10, 0xd9, 1, 2}, 7, 0, 7},
      {"one line", LineTable::locations, {0x80, 0x10, 0xd9, 1, 2}, 7, 2, 8},
      {"no columns", LineTable::locations, {0xe8, 10}, 7, 0, 12},
      {"long, backwards", LineTable::locations, {0xf0, 7, 0, 1, 1}, 7, 0, 4},
      {"none", LineTable::locations, {0xf8}, 7, 0, 0},
      {"before the first instruction", LineTable::locations, {0x80, 0x10}, 7, -1, 7},
      {"empty", LineTable::locations, {}, 7, 0, 0},
  };
  for (const Case& c : cases)
    CHECK_MESSAGE(python_line(c.format, c.table, c.first, c.unit) == c.line, c.what);
}

TEST_CASE("damaged tables give some line or none, and end") {
  std::mt19937 random(1);  // any seed: what is tested is that nothing is read out of bounds
  for (int turn = 0; turn < 20'000; ++turn) {
    std::vector<uint8_t> table(random() % 40);
    for (uint8_t& byte : table) byte = static_cast<uint8_t>(random());
    for (const LineTable format : {LineTable::lnotab, LineTable::ranges, LineTable::locations})
      CHECK(python_line(format, table, static_cast<int64_t>(random() % 100),
                        static_cast<int64_t>(random() % 64)) < 1'000'000'000);
  }
}
