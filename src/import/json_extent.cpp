// Where events begin and end in JSON text.
#include <array>
#include <cstring>

#include "import/json_repair.h"

namespace stallscope {
namespace {

// What profilers write first in an event. Objects nested in an event's args
// seldom begin so; when one does, the batch is refused and read singly.
constexpr std::array<std::string_view, 10> kFirstKeys = {
    "\"ph\"", "\"name\"", "\"cat\"", "\"pid\"",  "\"tid\"",
    "\"ts\"", "\"dur\"",  "\"id\"",  "\"args\"", "\"s\""};

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// True when an event begins after the comma at text[comma].
bool event_follows(std::string_view text, size_t comma) {
  size_t at = skip_blanks(text, comma + 1);
  if (at >= text.size() || text[at] != '{') return false;
  return begins_with_event_key(text.substr(skip_blanks(text, at + 1)));
}

// The comma of a border whose closing brace is text[brace]; npos when it is none.
size_t border_at(std::string_view text, size_t brace) {
  const size_t comma = skip_blanks(text, brace + 1);
  const bool border = comma < text.size() && text[comma] == ',' && event_follows(text, comma);
  return border ? comma : std::string_view::npos;
}

}  // namespace

bool begins_with_event_key(std::string_view text) {
  for (std::string_view key : kFirstKeys)
    if (text.starts_with(key)) return true;
  return false;
}

size_t json_string_extent(std::string_view text) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

size_t json_extent(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"': {
        const size_t length = json_string_extent(text.substr(at));
        if (length == std::string_view::npos) return length;
        at += length - 1;
        break;
      }
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (depth <= 1) return at + 1;
        --depth;
        break;
      default:
        break;
    }
  }
  return std::string_view::npos;
}

size_t next_event_border(std::string_view text, size_t from) {
  for (size_t brace = text.find('}', from); brace != std::string_view::npos;
       brace = text.find('}', brace + 1)) {
    const size_t comma = border_at(text, brace);
    if (comma != std::string_view::npos) return comma;
  }
  return std::string_view::npos;
}

size_t last_event_border(std::string_view text) {
  for (size_t brace = text.rfind('}'); brace != std::string_view::npos && brace > 0;
       brace = text.rfind('}', brace - 1)) {
    const size_t comma = border_at(text, brace);
    if (comma != std::string_view::npos) return comma;
  }
  return std::string_view::npos;
}

}  // namespace stallscope
