// Condition: a filter over the fields of one Observation, as a rule file writes
// it under `where:`. Three-valued: a field that an observation does not carry
// makes a comparison unknown, never false by being zero.
#pragma once

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"

namespace stallscope {

/// What a field is compared with: one of
///   "<= 16"  ">= 1"  "< 5"  "> 0"  "== 4"  "!= 4"  a bare number   a number
///   "8..64"                        an interval, both ends included
///   "in [a, b, c]"                 one of several numbers or texts
///   "contains nccl"                a part of a text, in any case
///   "/^aten::(item|_local)/"       a regular expression, searched; "/.../i" in any case
///   "!~ /warm.?up/i"               the same, not found
///   anything else                  equal text
/// Numbers may carry a unit: us, ms, s (nanoseconds in all), KiB, MiB, GiB, %.
struct Comparison {
  enum class Op : uint8_t {
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    between,
    one_of,
    contains,
    matches,
    not_matches,
    text,
    text_not,
  };
  Op op = Op::equal;
  double low = 0, high = 0;  ///< `low` alone for all but `between`
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::shared_ptr<const std::regex> pattern;
  std::string written;  ///< as it stands in the rule file

  /// True for operators that compare numbers (`one_of` may be either).
  bool numeric() const;
};

/// Parses the grammar above. The error's message says what was expected.
Result<Comparison> parse_comparison(std::string_view text);

/// A field's value in one observation.
struct FieldValue {
  std::optional<double> number;
  std::optional<std::string> text;
  bool known() const { return number.has_value() || text.has_value(); }
};

/// nullopt when the value is unknown or of the other type.
std::optional<bool> compare(const Comparison& comparison, const FieldValue& value);

/// A tree of comparisons.
struct Condition {
  enum class Kind : uint8_t { all, any, none, field };
  Kind kind = Kind::all;
  std::vector<Condition> children;  ///< of all, any, none
  std::string field;                ///< of field
  Comparison comparison;
  uint32_t line = 0, column = 0;  ///< in the rule file
};

/// One observation with what its rank's step knows: fields such as
/// idle_fraction need the step time.
struct ObservationView {
  const Observation* observation = nullptr;
  Ns step_ns = 0;  ///< median step of its rank; 0 = unknown
};

/// The value of `field` as observation_kinds() describes it: a member of the
/// observation, or one of its numbers and texts.
FieldValue field_value(const ObservationView& view, std::string_view field);

/// Three-valued: nullopt when unknown fields decide.
std::optional<bool> holds(const Condition& condition, const ObservationView& view);

/// How narrow a condition is: the number of its comparisons, and whether it
/// demands an operator (as one choice of `any` it does not). Where two rules
/// match one host block the narrower wins.
struct Specificity {
  bool names_operator = false;
  uint32_t comparisons = 0;
};
Specificity specificity(const Condition& condition);

/// The comparisons of a condition on numeric fields, for showing thresholds as evidence.
void collect_comparisons(const Condition& condition, std::vector<const Condition*>& out);

}  // namespace stallscope
