// Finding where one event of a JSON trace ends, and mending what real files
// break: profilers write names unescaped, die half way, and print NaN.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stallscope {

/// What was mended -> how often. The names appear in the trust section.
using Repairs = std::map<std::string, uint64_t>;

inline constexpr char kRepairUtf8[] = "invalid UTF-8 replaced";
inline constexpr char kRepairControl[] = "raw control character escaped";
inline constexpr char kRepairQuote[] = "unescaped quote escaped";
inline constexpr char kRepairEscape[] = "invalid escape kept as text";
inline constexpr char kRepairNotANumber[] = "NaN or infinity read as unknown";
inline constexpr char kRepairComma[] = "missing or extra comma";
inline constexpr char kRepairNoValue[] = "missing value read as unknown";
inline constexpr char kRepairBigInteger[] = "integer beyond 64 bits";
inline constexpr char kRepairUnreadable[] = "unreadable event skipped";
inline constexpr char kRepairGarbage[] = "text between events skipped";
inline constexpr char kRepairTail[] = "truncated tail: last event skipped";
inline constexpr char kRepairNoEnd[] = "missing closing bracket";
inline constexpr char kRepairOversized[] = "event larger than 64 MiB skipped";

/// The end of the JSON object or array that begins at text[0], one past its
/// last byte; npos when the text ends first. Strings are honoured, nothing else
/// is checked.
size_t json_extent(std::string_view text);

/// Like json_extent for a string that begins at text[0] with a quote.
size_t json_string_extent(std::string_view text);

/// What JSON allows between its tokens.
inline bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Whether `text` begins with one of the keys of an event, in its quotes.
bool begins_with_event_key(std::string_view text);

/// The position of the first place at or after `from` where one event ends and
/// the next begins ("}", ",", "{" and a key that events begin with); the
/// position is that of the comma. npos when there is none.
size_t next_event_border(std::string_view text, size_t from);

/// Like next_event_border, looking backwards from the end of `text`.
size_t last_event_border(std::string_view text);

/// A strict JSON text that says what the broken object `text` says as far as
/// can be told; what was done is counted in `repairs`, also when the result is
/// empty because the object is beyond repair.
std::string repair_object(std::string_view text, Repairs& repairs);

}  // namespace stallscope
