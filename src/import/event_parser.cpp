#include "import/event_parser.h"

#include <simdjson.h>

#include <cstring>
#include <vector>

namespace stallscope {
namespace {

namespace ondemand = simdjson::ondemand;

// The text of a key without its quotes; keys with escapes are none of ours.
std::string_view key_text(ondemand::raw_json_string key) {
  const char* const first = key.raw();
  const void* const quote = std::memchr(first, '"', 64);
  return quote == nullptr
             ? std::string_view{}
             : std::string_view(first,
                                static_cast<size_t>(static_cast<const char*>(quote) - first));
}

// Moves past a string, so that what follows it is checked: skipping over an
// unread string forgives a missing comma and swallows the next key.
bool consume_string(ondemand::value& value) {
  return value.get_raw_json_string().error() == simdjson::SUCCESS;
}

// A scalar as text. Strings are decoded; numbers stay as written; anything else
// is empty. False when the value is malformed.
bool scalar_text(ondemand::value& value, std::string_view& text, bool* is_text = nullptr) {
  const std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  const char first = token.front();
  if (is_text != nullptr) *is_text = first == '"';
  if (first == '"') {
    // Without a backslash the bytes are the text: the parser has checked them.
    const size_t last = token.rfind('"');
    if (last == 0 || last == std::string_view::npos) return false;
    if (std::memchr(token.data(), '\\', last) != nullptr)
      return value.get_string().get(text) == simdjson::SUCCESS;
    text = token.substr(1, last - 1);
    return consume_string(value);
  }
  if (first == 'n') {  // null; "nan" is malformed
    text = {};
    return token.size() >= 4 && token[1] == 'u';
  }
  if (first == 'N' || first == 'I' || first == 'i') return false;
  if (first == '-' && token.size() > 1 && (token[1] < '0' || token[1] > '9')) return false;
  text = token;
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return true;
}

// Looks at a value that nobody reads, so that NaN is still refused (and mended)
// and an integer beyond 64 bits still counted.
bool unread_is_sound(ondemand::value& value, uint64_t& big_integers) {
  const std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  const char first = token.front();
  if (first == '"') return consume_string(value);
  if (first == '{' || first == '[') return true;
  if (first == 'N' || first == 'I' || first == 'i') return false;
  if (first == 'n') return token.size() >= 4 && token[1] == 'u';
  if (first == '-' && token.size() > 1 && (token[1] < '0' || token[1] > '9')) return false;
  if (token.size() > 19) {
    size_t digits = first == '-' ? 1 : 0;
    while (digits < token.size() && token[digits] >= '0' && token[digits] <= '9') ++digits;
    const bool integer = digits == token.size() || token[digits] == ' ' || token[digits] == '\n';
    if (integer && digits > 20) ++big_integers;
  }
  return true;
}

bool structure_text(ondemand::value& value, std::string_view& text) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return false;
  return array.raw_json().get(text) == simdjson::SUCCESS;
}

bool read_args(ondemand::value& value, RawEvent& event, uint64_t& big_integers) {
  if (value.raw_json_token().front() != '{') return true;  // "args": null
  ondemand::object args;
  if (value.get_object().get(args) != simdjson::SUCCESS) return false;
  for (auto field_or : args) {
    ondemand::field field;
    if (std::move(field_or).get(field) != simdjson::SUCCESS) return false;
    const std::string_view key = key_text(field.key());
    ondemand::value member = field.value();
    const std::string_view token = member.raw_json_token();
    if (token.empty()) return false;
    std::optional<Arg> arg = find_arg(key);
    if (!arg && event.phase == 'C' && !event.has(Arg::value)) arg = Arg::value;
    if (!arg) {
      if (!unread_is_sound(member, big_integers)) return false;
      continue;
    }
    std::string_view text;
    if (token.front() == '[') {
      if (!structure_text(member, text)) return false;
    } else if (token.front() == '{') {
      continue;
    } else if (!scalar_text(member, text)) {
      return false;
    }
    event.set(*arg, text);
  }
  return true;
}

bool read_event(ondemand::object& object, RawEvent& event, uint64_t& big_integers) {
  for (auto field_or : object) {
    ondemand::field field;
    if (std::move(field_or).get(field) != simdjson::SUCCESS) return false;
    const std::string_view key = key_text(field.key());
    ondemand::value value = field.value();
    std::string_view text;
    bool good = true;
    if (key == "args") {
      good = read_args(value, event, big_integers);
    } else if (key == "ph") {
      good = scalar_text(value, text);
      event.phase = text.empty() ? '\0' : text.front();
    } else if (key == "name") {
      good = scalar_text(value, event.name);
    } else if (key == "cat") {
      good = scalar_text(value, event.category);
    } else if (key == "ts") {
      good = scalar_text(value, event.timestamp);
    } else if (key == "dur") {
      good = scalar_text(value, event.duration);
    } else if (key == "pid") {
      good = scalar_text(value, event.process, &event.process_is_text);
    } else if (key == "tid") {
      good = scalar_text(value, event.thread, &event.thread_is_text);
    } else if (key == "id") {
      good = value.raw_json_token().front() == '{' || scalar_text(value, event.id);
    } else {
      good = unread_is_sound(value, big_integers);
    }
    if (!good) return false;
  }
  return true;
}

}  // namespace

struct EventParser::State {
  ondemand::parser parser;
  RawEvent event;
  std::string text;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;

size_t EventParser::parse(std::string_view array, const Sink& sink, Repairs& repairs) {
  ondemand::document document;
  ondemand::array events;
  if (state_->parser.iterate(array.data(), array.size(), array.size() + kParsePadding)
              .get(document) != simdjson::SUCCESS ||
      document.get_array().get(events) != simdjson::SUCCESS)
    return 0;
  size_t done = 1;  // after the opening bracket
  const auto mark = [&] {
    const char* location = nullptr;
    if (document.current_location().get(location) != simdjson::SUCCESS) return false;
    done = static_cast<size_t>(location - array.data());
    return true;
  };
  RawEvent& event = state_->event;
  for (auto value_or : events) {
    ondemand::value value;
    ondemand::object object;
    if (std::move(value_or).get(value) != simdjson::SUCCESS) return done;
    if (!value.raw_json_token().starts_with('{')) return done;
    if (value.get_object().get(object) != simdjson::SUCCESS) return done;
    event.reset();
    uint64_t big_integers = 0;
    if (!read_event(object, event, big_integers)) return done;
    if (big_integers > 0) repairs[kRepairBigInteger] += big_integers;
    sink(event);
    if (!mark()) return done;
  }
  if (!mark()) return array.size();
  // The array was closed before the end of the text: leave its bracket to the caller.
  return array.rfind(']', done - 1);
}

bool EventParser::parse_strict(std::string_view object, const Sink& sink, Repairs& repairs) {
  std::string& text = state_->text;
  text.assign("[").append(object).append("]");
  const size_t size = text.size();
  text.append(kParsePadding, ' ');
  return parse({text.data(), size}, sink, repairs) == size;
}

bool EventParser::parse_one(std::string_view object, const Sink& sink, Repairs& repairs) {
  if (parse_strict(object, sink, repairs)) return true;
  Repairs made;
  const std::string mended = repair_object(object, made);
  if (mended.empty() || !parse_strict(mended, sink, made)) return false;
  for (const auto& [what, count] : made) repairs[what] += count;
  return true;
}

bool for_each_member(
    std::string_view object,
    const std::function<void(std::string_view key, std::string_view value)>& each) {
  const simdjson::padded_string text(object);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object members;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
      document.get_object().get(members) != simdjson::SUCCESS)
    return false;
  for (auto field_or : members) {
    ondemand::field field;
    if (std::move(field_or).get(field) != simdjson::SUCCESS) return false;
    const std::string_view key = key_text(field.key());
    ondemand::value value = field.value();
    const std::string_view token = value.raw_json_token();
    std::string_view content;
    if (token.starts_with('{')) {
      ondemand::object inner;
      if (value.get_object().get(inner) != simdjson::SUCCESS ||
          inner.raw_json().get(content) != simdjson::SUCCESS)
        return false;
    } else if (token.starts_with('[')) {
      if (!structure_text(value, content)) return false;
    } else if (!scalar_text(value, content)) {
      continue;
    }
    each(key, content);
  }
  return true;
}

}  // namespace stallscope
