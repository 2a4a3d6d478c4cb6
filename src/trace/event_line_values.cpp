#include "trace/event_line_values.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "trace/event_lines.h"

namespace stallscope::event_lines {
namespace {

Frame frame_of(Trace& trace, const element& entry) {
  Frame frame;
  std::string_view text;
  if (entry.get(text) == simdjson::SUCCESS) {  // "file:line function"
    const size_t space = text.find(' ');
    std::string_view place = text.substr(0, space);
    if (space != std::string_view::npos)
      frame.function = trace.strings.intern(text.substr(space + 1));
    const size_t colon = place.rfind(':');
    if (colon != std::string_view::npos) {
      const std::string_view line = place.substr(colon + 1);
      if (std::from_chars(line.data(), line.data() + line.size(), frame.line).ec != std::errc())
        throw BadLine{"a frame reads \"file:line function\", not '" + std::string(text) + "'"};
      place = place.substr(0, colon);
    }
    frame.file = trace.strings.intern(place);
    frame.kind = place.ends_with(".py") ? FrameKind::python : FrameKind::native;
    return frame;
  }
  object fields;
  if (entry.get(fields) != simdjson::SUCCESS) throw BadLine{"a frame must be an object or a text"};
  for (const auto [key, value] : fields) {
    if (key == "line") {
      const int64_t line = integer_of(value, key);
      if (line < 0 || line > INT32_MAX) throw BadLine{"'line' is out of range"};
      frame.line = static_cast<uint32_t>(line);
      continue;
    }
    const std::string_view field = text_of(value, key);
    if (key == "function")
      frame.function = trace.strings.intern(field);
    else if (key == "file")
      frame.file = trace.strings.intern(field);
    else if (key == "module")
      frame.module = trace.strings.intern(field);
    else if (key == "kind")
      frame.kind = field == "python" ? FrameKind::python
                   : field == "op"   ? FrameKind::op
                                     : FrameKind::native;
    else
      throw BadLine{"unknown key '" + std::string(key) + "' in a frame"};
  }
  return frame;
}

}  // namespace

std::optional<EventKind> kind_of(std::string_view name) {
  for (int i = 0; i < kEventKinds; ++i)
    if (to_string(static_cast<EventKind>(i)) == name) return static_cast<EventKind>(i);
  return std::nullopt;
}

std::string kind_names() {
  std::string names;
  for (int i = 0; i < kEventKinds; ++i)
    names += std::string(i == 0 ? "" : ", ") + std::string(to_string(static_cast<EventKind>(i)));
  return names;
}

double number_of(const element& value, std::string_view key) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS || !std::isfinite(number) || std::fabs(number) > 9e18)
    throw BadLine{"'" + std::string(key) + "' must be a number"};
  return number;
}

int64_t integer_of(const element& value, std::string_view key) {
  int64_t integer = 0;
  if (value.get(integer) == simdjson::SUCCESS) return integer;
  return std::llround(number_of(value, key));
}

std::string_view text_of(const element& value, std::string_view key) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS)
    throw BadLine{"'" + std::string(key) + "' must be a text"};
  return text;
}

bool truth_of(const element& value, std::string_view key) {
  bool truth = false;
  if (value.get(truth) != simdjson::SUCCESS)
    throw BadLine{"'" + std::string(key) + "' must be true or false"};
  return truth;
}

uint8_t detail_of(EventKind kind, std::string_view text) {
  for (uint8_t detail = 0; !detail_name(kind, detail).empty(); ++detail)
    if (detail_name(kind, detail) == text) return detail;
  throw BadLine{"unknown detail '" + std::string(text) + "' of kind " +
                std::string(to_string(kind))};
}

uint8_t detail_from_name(EventKind kind, std::string_view name) {
  switch (kind) {
    case EventKind::api:
      return static_cast<uint8_t>(classify_api(name));
    case EventKind::memcpy:
      return static_cast<uint8_t>(classify_copy(name));
    case EventKind::collective:
      return static_cast<uint8_t>(classify_collective(name));
    case EventKind::range:
      // Operators are written namespace::name in every framework that has them.
      return static_cast<uint8_t>(
          name.find("::") != std::string_view::npos ? RangeKind::op : RangeKind::annotation);
    default:
      return 0;
  }
}

StackId read_stack(Trace& trace, const element& value) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) throw BadLine{"'stack' must be a list of frames"};
  std::vector<FrameId> frames;
  for (element entry : list) frames.push_back(trace.add_frame(frame_of(trace, entry)));
  return trace.add_stack(frames);
}

}  // namespace stallscope::event_lines
