#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <string>

#include "rule/condition.h"

using namespace stallscope;

namespace {

std::optional<bool> compared(const std::string& text, FieldValue value) {
  const auto comparison = parse_comparison(text);
  REQUIRE_MESSAGE(comparison.ok(), text << ": " << (comparison ? "" : comparison.error().message));
  return compare(*comparison, value);
}

FieldValue number(double value) {
  return {.number = value, .text = std::nullopt};
}
FieldValue text(std::string value) {
  return {.number = std::nullopt, .text = std::move(value)};
}

}  // namespace

TEST_CASE("numbers are compared as written") {
  struct Case {
    const char* comparison;
    double value;
    bool holds;
  };
  for (const Case& c : {Case{"<= 16", 16, true},
                        {"<= 16", 16.5, false},
                        {">= 1", 1, true},
                        {">= 1", 0.99, false},
                        {"< 5", 5, false},
                        {"> 5", 5.01, true},
                        {"== 4", 4, true},
                        {"4", 4, true},
                        {"4", 5, false},
                        {"!= 4", 4, false},
                        {"8..64", 8, true},
                        {"8..64", 64, true},
                        {"8 .. 64", 65, false},
                        {"-2..2", -3, false},
                        {"in [1, 2, 4]", 4, true},
                        {"in [1, 2, 4]", 3, false},
                        {">= 10 us", 10'000, true},
                        {">= 10us", 9'999, false},
                        {"< 1.5 ms", 1'499'999, true},
                        {"<= 2 s", 2e9, true},
                        {"<= 64 KiB", 65'536, true},
                        {"> 1 MiB", 1'048'576, false},
                        {">= 5 %", 0.05, true},
                        {">= 5 %", 0.0499, false},
                        {"> 1e3", 1'001, true}}) {
    CAPTURE(c.comparison);
    CAPTURE(c.value);
    CHECK(compared(c.comparison, number(c.value)) == c.holds);
  }
}

TEST_CASE("texts are compared as written") {
  struct Case {
    const char* comparison;
    const char* value;
    bool holds;
  };
  for (const Case& c : {Case{"aten::item", "aten::item", true},
                        {"aten::item", "aten::items", false},
                        {"== stream-sync", "stream-sync", true},
                        {"!= stream-sync", "stream-sync", false},
                        {"'< 5'", "< 5", true},
                        {"in [a, 'b', c]", "b", true},
                        {"in [a, b, c]", "d", false},
                        {"contains NCCL", "myncclKernel", true},
                        {"contains nccl", "gemm", false},
                        {"/^aten::(item|_local)/", "aten::item", true},
                        {"/^aten::(item|_local)/", "x aten::item", false},
                        {"/SORT/i", "cub::DeviceRadixSortKernel", true},
                        {"/SORT/", "cub::DeviceRadixSortKernel", false},
                        {"!~ /warm.?up/", "warm up", false},
                        {"!~ /warm.?up/", "train", true},
                        {"/a\\{b/", "a{b", true}}) {
    CAPTURE(c.comparison);
    CAPTURE(c.value);
    CHECK(compared(c.comparison, text(c.value)) == c.holds);
  }
}

TEST_CASE("what is not known does not decide") {
  CHECK(compared("<= 16", {}) == std::nullopt);
  CHECK(compared("<= 16", text("16")) == std::nullopt);
  CHECK(compared("aten::item", number(3)) == std::nullopt);
  CHECK(compared("<= 16", number(std::numeric_limits<double>::quiet_NaN())) == std::nullopt);
}

TEST_CASE("a comparison that is not one says what was expected") {
  struct Case {
    const char* comparison;
    const char* message;
  };
  for (const Case& c :
       {Case{"", "comparison is empty"},
        {"<= many", "expected a number after the operator, found 'many'"},
        {"<= 16 furlongs", "expected a number after the operator, found '16 furlongs'"},
        {">= nan", "expected a number after the operator, found 'nan'"},
        {">=", "expected a number after the operator, found ''"},
        {"==", "expected a number after the operator, found ''"},
        {"in a, b", "expected 'in [a, b, ...]'"},
        {"in [a,,b]", "empty item in 'in [...]'"},
        {"9..3", "interval is empty: its low end is above its high end"},
        {"/abc", "regular expression has no closing '/'"},
        {"//", "regular expression is empty"},
        {"/abc/x", "unknown flag 'x' after regular expression"},
        {"!~ abc", "expected a regular expression after '!~'"},
        {"/a{2,9}/", "regular expression uses a repetition count {n}"}}) {
    CAPTURE(c.comparison);
    const auto result = parse_comparison(c.comparison);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message == c.message);
  }
  CHECK_FALSE(parse_comparison("/(a/").ok());
  CHECK_FALSE(parse_comparison("/(a)\\1/").ok());
  CHECK_FALSE(parse_comparison("/" + std::string(300, 'a') + "/").ok());
}

TEST_CASE("no pattern takes exponential time") {
  const std::string subject = std::string(2000, 'a');
  CHECK(compared("/^(a|a)*(a*)*(a+)+$/", text(subject)) == true);
  CHECK(compared("/^(a|a)*(a*)*(a+)+b$/", text(subject)) == false);
}

TEST_CASE("conditions are three-valued") {
  Observation o;
  o.numbers["bytes"] = 4;
  o.texts["copy"] = "device-to-host";
  const ObservationView view{.observation = &o, .step_ns = 1000};
  const auto leaf = [](const char* field, const char* comparison) {
    Condition c;
    c.kind = Condition::Kind::field;
    c.field = field;
    c.comparison = *parse_comparison(comparison);
    return c;
  };
  const auto group = [](Condition::Kind kind, std::vector<Condition> children) {
    Condition c;
    c.kind = kind;
    c.children = std::move(children);
    return c;
  };
  using Kind = Condition::Kind;
  const Condition yes = leaf("bytes", "<= 16"), no = leaf("bytes", "> 16"),
                  unknown = leaf("waited_ns", "> 0");
  CHECK(holds(leaf("operator", "!~ /aten/"), view) == true);  // a missing text is empty
  CHECK(holds(leaf("operator", "== ''"), view) == true);
  CHECK(holds(group(Kind::all, {}), view) == true);
  CHECK(holds(group(Kind::all, {yes, no}), view) == false);
  CHECK(holds(group(Kind::all, {yes, unknown}), view) == std::nullopt);
  CHECK(holds(group(Kind::all, {unknown, no}), view) == false);
  CHECK(holds(group(Kind::any, {unknown, yes}), view) == true);
  CHECK(holds(group(Kind::any, {unknown, no}), view) == std::nullopt);
  CHECK(holds(group(Kind::none, {no}), view) == true);
  CHECK(holds(group(Kind::none, {unknown}), view) == std::nullopt);
  CHECK(holds(group(Kind::none, {yes, unknown}), view) == false);
}

TEST_CASE("every common field of every kind can be read") {
  Observation o;
  o.place = {.file = "a.py", .line = 1, .column = 0, .function = "f", .language = "python"};
  o.count = {.median = 2, .maximum = 3, .total = 30, .steps_affected = 10, .steps = 20};
  o.idle_ns = {.median = 0, .maximum = 0, .total = 2000, .steps_affected = 10, .steps = 20};
  const ObservationView view{.observation = &o, .step_ns = 1000};
  REQUIRE_FALSE(observation_kinds().empty());
  // The fields that all kinds share come from the Observation itself.
  for (const auto& [name, meaning] : observation_kinds().front().fields) {
    bool everywhere = true;
    for (const ObservationKind& kind : observation_kinds()) {
      bool has = false;
      for (const auto& field : kind.fields) has = has || field.first == name;
      everywhere = everywhere && has;
    }
    if (!everywhere) continue;
    CAPTURE(name);
    CHECK(field_value(view, name).known());
  }
  CHECK(*field_value(view, "per_step").number == doctest::Approx(1.5));
  CHECK(*field_value(view, "step_fraction").number == doctest::Approx(0.5));
  CHECK(*field_value(view, "idle_fraction").number == doctest::Approx(0.1));
}

TEST_CASE("of a trace without steps, what happened once says nothing of each step") {
  Observation o;
  o.count.steps = 1;
  o.count.steps_affected = 1;
  const ObservationView view{.observation = &o, .step_ns = 1000};
  o.texts["scope"] = "whole trace";
  for (const double times : {1.0, 2.0}) {
    o.count.total = times;
    CHECK_FALSE(field_value(view, "step_fraction").number.has_value());
    CHECK(compared(">= 0.5", field_value(view, "step_fraction")) == std::nullopt);
  }
  o.count.total = 60;
  CHECK(*field_value(view, "step_fraction").number == doctest::Approx(1));
  o.texts.clear();
  o.count.total = 1;
  CHECK(*field_value(view, "step_fraction").number == doctest::Approx(1));
}
