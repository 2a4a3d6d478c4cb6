#include "import/decimal_time.h"

#include <doctest/doctest.h>

using namespace stallscope;

TEST_CASE("microseconds are read exactly") {
  struct Case {
    const char* text;
    Ns ns;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"0", 0},
           {"1695835542514261", 1695835542514261000},
           {"4458676522690.655", 4458676522690655},
           {"5.1", 5100},
           {"7.", 7000},
           {".5", 500},
           {"-1.5", -1500},
           {"-0.0004", 0},
           {"1.0005", 1001},
           {"1.00049", 1000},
           {"1.5e3", 1500000},
           {"15E-1", 1500},
           {" 12.25\n", 12250},
           {"1695835542514261.123456789", 1695835542514261123},
       }) {
    CAPTURE(c.text);
    const auto time = parse_microseconds(c.text);
    REQUIRE(time.has_value());
    CHECK(round_to_ns(*time) == c.ns);
  }
}

TEST_CASE("what is no time is none") {
  for (const char* text : {"", " ", "-", ".", "abc", "1.2.3", "NaN", "inf", "1e", "1e9999", "12 13",
                           "9223372036854775807", "99999999999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_microseconds(text).has_value());
  }
}

TEST_CASE("both ends of an interval are rounded, so neighbours keep touching") {
  const auto start = parse_microseconds("10.0004"), length = parse_microseconds("5.0004");
  const auto end = add(*start, *length);
  REQUIRE(end.has_value());
  CHECK(round_to_ns(*start) == 10000);
  CHECK(round_to_ns(*end) == 15001);
  CHECK_FALSE(add({INT64_MAX, 0}, {1, 0}).has_value());
  CHECK_FALSE(add({kMostNs - 1, 0}, {1, 0}).has_value());
  CHECK(add({kMostNs - 2, 0}, {1, 0}).has_value());
}

TEST_CASE("integers within 64 bits") {
  CHECK(parse_integer("7") == 7);
  CHECK(parse_integer("-7 ") == -7);
  CHECK(parse_integer("7.0") == 7);
  CHECK_FALSE(parse_integer("7.5").has_value());
  CHECK_FALSE(parse_integer("18446744073709551616").has_value());
  CHECK_FALSE(parse_integer("stream 7").has_value());
}
