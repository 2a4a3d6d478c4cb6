// Values of event lines: checked conversions from JSON, shared by the reader's parts.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace stallscope::event_lines {

using simdjson::dom::element;
using simdjson::dom::object;

/// Thrown inside the reader only; it becomes an Error with the line's number.
struct BadLine {
  std::string message;
};

std::optional<EventKind> kind_of(std::string_view name);
/// All kinds, separated by commas, for an error message.
std::string kind_names();

double number_of(const element& value, std::string_view key);
int64_t integer_of(const element& value, std::string_view key);
std::string_view text_of(const element& value, std::string_view key);
bool truth_of(const element& value, std::string_view key);

/// The detail named `text`; throws BadLine when `kind` has none of that name.
uint8_t detail_of(EventKind kind, std::string_view text);
/// The detail that an event's name implies.
uint8_t detail_from_name(EventKind kind, std::string_view name);

/// Interns a list of frames, innermost first.
StackId read_stack(Trace& trace, const element& value);

}  // namespace stallscope::event_lines
