// The grammar of one comparison, and what it means.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "rule/condition.h"

namespace stallscope {
namespace {

constexpr size_t kLongestPattern = 256;
// Kernel names of templates run to kilobytes; what tells them apart comes first.
constexpr size_t kLongestSubject = 2048;

constexpr std::array<std::pair<std::string_view, double>, 11> kUnits = {{{"", 1},
                                                                         {"ns", 1},
                                                                         {"us", 1e3},
                                                                         {"ms", 1e6},
                                                                         {"s", 1e9},
                                                                         {"%", 0.01},
                                                                         {"B", 1},
                                                                         {"KiB", 1024},
                                                                         {"MiB", 1048576},
                                                                         {"GiB", 1073741824},
                                                                         {"per step", 1}}};

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(static_cast<size_t>(end - text.data())));
  for (const auto& [name, factor] : kUnits)
    if (name == unit) return value * factor;
  return std::nullopt;
}

Error wrong(std::string message, std::string remedy = {}) {
  return Error{.message = std::move(message), .remedy = std::move(remedy)};
}

bool counts_repetitions(std::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\')
      ++i;
    else if (pattern[i] == '{')
      return true;
  }
  return false;
}

// `text` begins with '/'.
Result<std::shared_ptr<const std::regex>> parse_pattern(std::string_view text) {
  const size_t close = text.rfind('/');
  if (close == 0) return wrong("regular expression has no closing '/'");
  const std::string_view pattern = text.substr(1, close - 1);
  const std::string_view flags = text.substr(close + 1);
  if (pattern.empty()) return wrong("regular expression is empty");
  if (!flags.empty() && flags != "i")
    return wrong("unknown flag '" + std::string(flags) + "' after regular expression",
                 "Use /.../ or /.../i.");
  if (pattern.size() > kLongestPattern)
    return wrong("regular expression is longer than " + std::to_string(kLongestPattern) +
                 " characters");
  // A count multiplies the automaton, and nested counts do so without bound.
  if (counts_repetitions(pattern))
    return wrong("regular expression uses a repetition count {n}", "Use *, + or ? instead.");
  // Polynomial: no backtracking, so that no pattern of a rule file can hang the tool.
  auto options = std::regex::ECMAScript | std::regex_constants::__polynomial;
  if (flags == "i") options |= std::regex::icase;
  try {
    return std::shared_ptr<const std::regex>(
        std::make_shared<std::regex>(pattern.begin(), pattern.end(), options));
  } catch (const std::regex_error& error) {
    return wrong("regular expression is not valid: " + std::string(error.what()),
                 "Back references are not supported.");
  }
}

std::string_view unquote(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// `text` is what follows "in".
Result<Comparison> parse_list(std::string_view text, Comparison result) {
  text = trimmed(text);
  if (!text.starts_with('[') || !text.ends_with(']')) return wrong("expected 'in [a, b, ...]'");
  text = text.substr(1, text.size() - 2);
  result.op = Comparison::Op::one_of;
  bool all_numbers = true;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view item = unquote(trimmed(text.substr(0, comma)));
    if (item.empty()) return wrong("empty item in 'in [...]'");
    const auto number = parse_number(item);
    all_numbers = all_numbers && number.has_value();
    result.numbers.push_back(number.value_or(0));
    result.texts.emplace_back(item);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (!all_numbers) result.numbers.clear();
  return result;
}

constexpr std::array<std::pair<std::string_view, Comparison::Op>, 6> kOperators = {
    {{"<=", Comparison::Op::less_equal},
     {">=", Comparison::Op::greater_equal},
     {"==", Comparison::Op::equal},
     {"!=", Comparison::Op::not_equal},
     {"<", Comparison::Op::less},
     {">", Comparison::Op::greater}}};

// An operator and what it compares with.
Result<Comparison> parse_operator(Comparison::Op op, std::string_view operand, Comparison result) {
  result.op = op;
  if (const auto number = parse_number(operand)) {
    result.low = *number;
    return result;
  }
  const bool equality = op == Comparison::Op::equal || op == Comparison::Op::not_equal;
  if (!equality || operand.empty())
    return wrong("expected a number after the operator, found '" + std::string(operand) + "'",
                 "Units may be us, ms, s, KiB, MiB, GiB or %.");
  result.op = op == Comparison::Op::equal ? Comparison::Op::text : Comparison::Op::text_not;
  result.texts.emplace_back(unquote(operand));
  return result;
}

bool compare_number(const Comparison& c, double value) {
  switch (c.op) {
    case Comparison::Op::less:
      return value < c.low;
    case Comparison::Op::less_equal:
      return value <= c.low;
    case Comparison::Op::greater:
      return value > c.low;
    case Comparison::Op::greater_equal:
      return value >= c.low;
    case Comparison::Op::equal:
      return value == c.low;
    case Comparison::Op::not_equal:
      return value != c.low;
    case Comparison::Op::between:
      return value >= c.low && value <= c.high;
    default:
      return std::ranges::find(c.numbers, value) != c.numbers.end();
  }
}

bool compare_text(const Comparison& c, std::string_view value) {
  switch (c.op) {
    case Comparison::Op::one_of:
      return std::ranges::find(c.texts, value) != c.texts.end();
    case Comparison::Op::contains:
      return lower(value).find(c.texts.front()) != std::string::npos;
    case Comparison::Op::matches:
    case Comparison::Op::not_matches: {
      const std::string_view subject = value.substr(0, kLongestSubject);
      const bool found = std::regex_search(subject.begin(), subject.end(), *c.pattern);
      return found == (c.op == Comparison::Op::matches);
    }
    case Comparison::Op::text_not:
      return value != c.texts.front();
    default:
      return value == c.texts.front();
  }
}

}  // namespace

bool Comparison::numeric() const {
  return op <= Op::between || (op == Op::one_of && !numbers.empty());
}

Result<Comparison> parse_comparison(std::string_view written) {
  const std::string_view text = trimmed(written);
  Comparison result;
  result.written = text;
  if (text.empty()) return wrong("comparison is empty");
  for (const auto& [symbol, op] : kOperators)
    if (text.starts_with(symbol))
      return parse_operator(op, trimmed(text.substr(symbol.size())), std::move(result));
  if (text.starts_with("in ") || text.starts_with("in["))
    return parse_list(text.substr(2), std::move(result));
  if (text.starts_with("contains ")) {
    result.op = Comparison::Op::contains;
    result.texts.push_back(lower(unquote(trimmed(text.substr(9)))));
    return result;
  }
  const bool negated = text.starts_with("!~");
  const std::string_view pattern = negated ? trimmed(text.substr(2)) : text;
  if (negated || text.starts_with('/')) {
    if (!pattern.starts_with('/')) return wrong("expected a regular expression after '!~'");
    auto compiled = parse_pattern(pattern);
    if (!compiled) return compiled.error();
    result.op = negated ? Comparison::Op::not_matches : Comparison::Op::matches;
    result.pattern = *compiled;
    return result;
  }
  if (const size_t dots = text.find(".."); dots != std::string_view::npos) {
    const auto low = parse_number(text.substr(0, dots));
    const auto high = parse_number(text.substr(dots + 2));
    if (low && high) {
      if (*low > *high) return wrong("interval is empty: its low end is above its high end");
      result.op = Comparison::Op::between;
      result.low = *low;
      result.high = *high;
      return result;
    }
  }
  if (const auto number = parse_number(text)) {
    result.low = *number;
    return result;
  }
  result.op = Comparison::Op::text;
  result.texts.emplace_back(unquote(text));
  return result;
}

std::optional<bool> compare(const Comparison& comparison, const FieldValue& value) {
  if (comparison.numeric()) {
    if (!value.number || std::isnan(*value.number)) return std::nullopt;
    return compare_number(comparison, *value.number);
  }
  if (!value.text) return std::nullopt;
  return compare_text(comparison, *value.text);
}

}  // namespace stallscope
