#include "import/event_parser.h"

namespace stallscope {
namespace {

// What can be a number, true, false or null; NaN and Infinity are none.
bool is_sound_word(std::string_view word) {
  const char first = word.front();
  if (first == ',' || first == ':' || first == '}' || first == ']') return false;
  if (first == 'n') return word.size() >= 4 && word[1] == 'u';  // "nan" is malformed
  if (first == 'N' || first == 'I' || first == 'i') return false;
  return first != '-' || word.size() < 2 || (word[1] >= '0' && word[1] <= '9');
}

// A scalar as text. Strings are decoded; numbers stay as written; null is empty. False when the
// value is malformed.
bool scalar_text(JsonTokens& tokens, std::string_view& text, bool* is_text = nullptr) {
  const char first = tokens.peek();
  if (first == '{' || first == '[') return tokens.structure(text);
  if (!tokens.scalar(text)) return false;
  if (is_text != nullptr) *is_text = first == '"';
  if (first == '"') return true;
  if (!is_sound_word(text)) return false;
  if (first == 'n') text = {};
  return true;
}

// Looks at a value that nobody reads, so that NaN is still refused (and mended)
// and an integer beyond 64 bits still counted.
bool unread_is_sound(JsonTokens& tokens, uint64_t& big_integers) {
  const char first = tokens.peek();
  if (first == '"' || first == '{' || first == '[') return tokens.skip();
  std::string_view word;
  if (!tokens.scalar(word) || !is_sound_word(word)) return false;
  if (word.size() > 19) {
    size_t digits = first == '-' ? 1 : 0;
    while (digits < word.size() && word[digits] >= '0' && word[digits] <= '9') ++digits;
    if (digits == word.size() && digits > 20) ++big_integers;
  }
  return true;
}

// Goes through the members of the object at hand. `member` passes the value. False when the object
// or a value is malformed.
template <typename Member>
bool each_member(JsonTokens& tokens, const Member& member) {
  tokens.next();  // the opening brace
  if (tokens.peek() == '}') {
    tokens.next();
    return true;
  }
  for (;;) {
    std::string_view key;
    if (!tokens.key(key) || !member(key)) return false;
    const char after = tokens.peek();
    tokens.next();
    if (after == '}') return true;
    if (after != ',') return false;
  }
}

bool read_args(JsonTokens& tokens, RawEvent& event, uint64_t& big_integers) {
  if (tokens.peek() != '{') return tokens.skip();  // "args": null
  return each_member(tokens, [&](std::string_view key) {
    const char first = tokens.peek();
    std::optional<Arg> arg = find_arg(key);
    if (!arg && event.phase == 'C' && !event.has(Arg::value)) arg = Arg::value;
    if (!arg) return unread_is_sound(tokens, big_integers);
    if (first == '{') return tokens.skip();
    std::string_view text;
    if (!scalar_text(tokens, text)) return false;
    event.set(*arg, text);
    return true;
  });
}

bool read_event(JsonTokens& tokens, RawEvent& event, uint64_t& big_integers) {
  return each_member(tokens, [&](std::string_view key) {
    switch (key.size()) {
      case 2:
        if (key == "ph") {
          std::string_view phase;
          if (!scalar_text(tokens, phase)) return false;
          event.phase = phase.empty() ? '\0' : phase.front();
          return true;
        }
        if (key == "ts") return scalar_text(tokens, event.timestamp);
        if (key == "id")
          return tokens.peek() == '{' ? tokens.skip() : scalar_text(tokens, event.id);
        break;
      case 3:
        if (key == "cat") return scalar_text(tokens, event.category);
        if (key == "dur") return scalar_text(tokens, event.duration);
        if (key == "pid") return scalar_text(tokens, event.process, &event.process_is_text);
        if (key == "tid") return scalar_text(tokens, event.thread, &event.thread_is_text);
        break;
      case 4:
        if (key == "name") return scalar_text(tokens, event.name);
        if (key == "args") return read_args(tokens, event, big_integers);
        break;
      default:
        break;
    }
    return unread_is_sound(tokens, big_integers);
  });
}

}  // namespace

struct EventParser::State {
  JsonTokens tokens;
  RawEvent event;
  std::string text;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;

size_t EventParser::parse(std::string_view array, const Sink& sink, Repairs& repairs) {
  JsonTokens& tokens = state_->tokens;
  if (!tokens.index(array) || tokens.peek() != '[') return 0;
  tokens.next();
  size_t done = 1;  // after the opening bracket
  RawEvent& event = state_->event;
  while (tokens.peek() == '{') {
    event.reset();
    uint64_t big_integers = 0;
    if (!read_event(tokens, event, big_integers)) return done;
    if (big_integers > 0) repairs[kRepairBigInteger] += big_integers;
    sink(event);
    tokens.forget();
    done = tokens.position();
    if (tokens.peek() != ',') break;
    tokens.next();
  }
  if (tokens.peek() != ']' || tokens.position() != done) return done;
  // An array that is closed before the end of the text leaves its bracket to the caller.
  tokens.next();
  return tokens.peek() == '\0' ? array.size() : done;
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
  std::string text(object);
  text.append(kParsePadding, ' ');
  JsonTokens tokens;
  if (!tokens.index({text.data(), object.size()}) || tokens.peek() != '{') return false;
  return each_member(tokens, [&](std::string_view key) {
    std::string_view value;
    if (!scalar_text(tokens, value)) return false;
    each(key, value);
    return true;
  });
}

}  // namespace stallscope
