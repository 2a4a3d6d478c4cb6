#include "import/decimal_time.h"

#include <array>
#include <charconv>

namespace stallscope {
namespace {

constexpr int64_t kRestPerNs = 1'000'000'000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// The value is digits x 10^(9 - shift) x 10^-9 ns: digits shifted so that the
// decimal point of microseconds lies 12 places before the last unit (10^-18 s).
std::optional<ExactTime> scaled(bool negative, std::string_view whole, std::string_view fraction,
                                long exponent) {
  constexpr __int128 kLimit = static_cast<__int128>(kMostNs - 1) * kRestPerNs;
  const auto whole_digits = static_cast<long>(whole.size());
  const auto digits = whole_digits + static_cast<long>(fraction.size());
  const long wanted = whole_digits + exponent + 12;  // digits up to the unit 10^-18 s
  __int128 value = 0;
  for (long i = 0; i < wanted; ++i) {
    const char digit = i >= digits        ? '0'
                       : i < whole_digits ? whole[static_cast<size_t>(i)]
                                          : fraction[static_cast<size_t>(i - whole_digits)];
    value = value * 10 + (digit - '0');
    if (value > kLimit) return std::nullopt;
    if (value == 0 && i >= digits) break;  // "0e999"
  }
  if (negative) value = -value;
  ExactTime time{static_cast<Ns>(value / kRestPerNs), static_cast<int64_t>(value % kRestPerNs)};
  if (time.rest < 0) {
    time.rest += kRestPerNs;
    --time.ns;
  }
  return time;
}

size_t digit_run(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  return count;
}

// Up to 15 digits at `at`, which moves past them; more are left to the careful way.
int64_t digits_at(const char*& at, const char* end) {
  int64_t value = 0;
  const char* const last = end - at > 15 ? at + 15 : end;
  for (; at != last && *at >= '0' && *at <= '9'; ++at) value = value * 10 + (*at - '0');
  return value;
}

// The two forms profilers write, "123" and "123.456", without 128-bit steps.
std::optional<ExactTime> plain(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const int64_t whole = digits_at(at, end);
  if (at == text.data()) return std::nullopt;
  if (at == end)
    return whole < kMostNs / 1000 ? std::optional(ExactTime{whole * 1000, 0}) : std::nullopt;
  const auto places = static_cast<size_t>(end - at) - 1;
  if (*at != '.' || places < 1 || places > 3 || whole >= kMostNs / 1000) return std::nullopt;
  const int64_t fraction = digits_at(++at, end);
  if (at != end) return std::nullopt;
  static constexpr std::array<int64_t, 4> kScale = {0, 100, 10, 1};
  return ExactTime{whole * 1000 + fraction * kScale[places], 0};
}

}  // namespace

std::optional<ExactTime> parse_microseconds(std::string_view text) {
  text = trimmed(text);
  if (std::optional<ExactTime> time = plain(text)) return time;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = text.substr(0, digit_run(text));
  text.remove_prefix(whole.size());
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = text.substr(0, digit_run(text));
    text.remove_prefix(fraction.size());
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  long exponent = 0;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (code != std::errc{} || exponent > 1000 || exponent < -1000) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
  }
  if (!text.empty()) return std::nullopt;
  return scaled(negative, whole, fraction, exponent);
}

Ns round_to_ns(const ExactTime& time) {
  return time.ns + (time.rest * 2 >= kRestPerNs ? 1 : 0);
}

std::optional<ExactTime> add(const ExactTime& start, const ExactTime& duration) {
  ExactTime sum;
  sum.rest = start.rest + duration.rest;
  const int64_t carry = sum.rest >= kRestPerNs ? 1 : 0;
  sum.rest -= carry * kRestPerNs;
  if (__builtin_add_overflow(start.ns, duration.ns, &sum.ns) ||
      __builtin_add_overflow(sum.ns, carry, &sum.ns) || sum.ns >= kMostNs || sum.ns <= -kMostNs)
    return std::nullopt;
  return sum;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  const char* at = text.data();
  const int64_t plain_value = digits_at(at, text.data() + text.size());
  if (!text.empty() && at == text.data() + text.size()) return plain_value;
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{}) return std::nullopt;
  if (rest == end) return value;
  if (*rest != '.') return std::nullopt;
  const std::string_view fraction(rest + 1, static_cast<size_t>(end - rest - 1));
  return fraction.find_first_not_of('0') == std::string_view::npos ? std::optional(value)
                                                                   : std::nullopt;
}

}  // namespace stallscope
