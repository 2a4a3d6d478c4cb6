// Turns batches of JSON event objects into RawEvents, with simdjson.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "import/json_repair.h"
#include "import/json_tokens.h"
#include "import/kineto_event.h"

namespace stallscope {

class EventParser {
 public:
  using Sink = std::function<void(const RawEvent&)>;

  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  /// Parses `array`, a JSON array of event objects with kParsePadding readable
  /// bytes behind it, giving each complete event to `sink`. Returns how many
  /// bytes of it are done: all of it when it was flawless, else the offset of
  /// the first event that was not given to `sink`.
  size_t parse(std::string_view array, const Sink& sink, Repairs& repairs);

  /// Parses one object of any size. False when it is not flawless.
  bool parse_strict(std::string_view object, const Sink& sink, Repairs& repairs);

  /// Like parse_strict, mending it when it is broken. False when
  /// it is beyond repair.
  bool parse_one(std::string_view object, const Sink& sink, Repairs& repairs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The members of a JSON object that are plain values, as text: strings decoded,
/// numbers as written, objects and arrays as JSON. Used for what surrounds the events.
bool for_each_member(std::string_view object,
                     const std::function<void(std::string_view key, std::string_view value)>& each);

}  // namespace stallscope
