// Event lines to Trace.
#include "trace/event_lines.h"

#include <cmath>
#include <optional>
#include <vector>

#include "base/lines.h"
#include "trace/event_line_values.h"

namespace stallscope {
namespace {

using namespace event_lines;

/// What one turn of a repeat adds to the events of its lines.
struct Turn {
  bool repeating = false;
  uint32_t index = 0;
  Ns shift = 0;
};

class Reader {
 public:
  explicit Reader(const EventLineOptions& options) : options_(options) {}

  Result<Trace> read(std::string_view text) {
    for (Lines lines(text); lines.next();) {
      const std::string_view line = lines.line();
      const size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos || line[first] == '#' ||
          line.substr(first).starts_with("//"))
        continue;
      try {
        take(line, lines.number());
      } catch (const BadLine& bad) {
        if (!lines.ends_in_newline() && !is_json(line)) {
          ++trace_.health.repairs["cut last line"];
          trace_.health.cut_short = true;
        } else if (options_.skip_bad_lines) {
          ++trace_.health.repairs["bad line skipped"];
        } else {
          return Error{.message = bad.message, .file = options_.file, .line = lines.number()};
        }
      }
    }
    if (repeat_count_ > 0)
      return Error{.message = "a repeat is not closed by {\"end\":true}",
                   .file = options_.file,
                   .line = repeat_line_};
    trace_.producer = "events";
    trace_.finish();
    return std::move(trace_);
  }

 private:
  bool is_json(std::string_view line) {
    return parser_.parse(line.data(), line.size()).error() == simdjson::SUCCESS;
  }

  object parse(std::string_view line) {
    element root;
    if (const auto error = parser_.parse(line.data(), line.size()).get(root))
      throw BadLine{std::string("not a JSON object: ") + simdjson::error_message(error)};
    object fields;
    if (root.get(fields) != simdjson::SUCCESS) throw BadLine{"not a JSON object"};
    return fields;
  }

  void take(std::string_view line, uint64_t number) {
    const object fields = parse(line);
    element value;
    if (fields["repeat"].get(value) == simdjson::SUCCESS) {
      if (repeat_count_ > 0) throw BadLine{"repeats do not nest"};
      const int64_t count = integer_of(value, "repeat");
      if (count < 1 || count > 10'000'000) throw BadLine{"'repeat' must be 1 to 10000000"};
      if (fields["everyNs"].get(value) != simdjson::SUCCESS)
        throw BadLine{"a repeat needs 'everyNs'"};
      repeat_every_ = integer_of(value, "everyNs");
      repeat_count_ = count;
      repeat_line_ = number;
      return;
    }
    if (fields["end"].get(value) == simdjson::SUCCESS) {
      if (repeat_count_ == 0) throw BadLine{"'end' without a repeat"};
      for (int64_t turn = 0; turn < repeat_count_; ++turn)
        for (const std::string& repeated : repeated_)
          add(parse(repeated),
              {true, static_cast<uint32_t>(turn), static_cast<Ns>(turn) * repeat_every_});
      repeated_.clear();
      repeat_count_ = 0;
      return;
    }
    if (repeat_count_ > 0) {
      check(fields);
      repeated_.emplace_back(line);
    } else {
      add(fields, {});
    }
  }

  // A repeated line is judged where it stands, so that its error names its own line.
  void check(const object& fields) {
    element kind;
    if (fields["kind"].get(kind) == simdjson::SUCCESS && !kind_of(text_of(kind, "kind")))
      throw BadLine{"unknown kind '" + std::string(text_of(kind, "kind")) + "' in a repeat"};
  }

  void add(const object& fields, const Turn& turn) {
    element value;
    std::string_view kind_name = "range";
    if (fields["kind"].get(value) == simdjson::SUCCESS) kind_name = text_of(value, "kind");
    if (kind_name == "process") return add_process(fields);
    if (kind_name == "hole") return add_hole(fields);
    if (kind_name == "health") return add_health(fields);
    if (kind_name == "environment") return add_environment(fields);
    const auto kind = kind_of(kind_name);
    if (!kind)
      throw BadLine{"unknown kind '" + std::string(kind_name) + "'; known: " + kind_names() +
                    ", process, hole, health, environment"};
    if (exists_in(fields, turn)) add_event(*kind, fields, turn);
  }

  static bool exists_in(const object& fields, const Turn& turn) {
    element value;
    if (fields["onlyIn"].get(value) == simdjson::SUCCESS) {
      simdjson::dom::array turns;
      if (value.get(turns) != simdjson::SUCCESS) throw BadLine{"'onlyIn' must be a list of turns"};
      bool found = false;
      for (element wanted : turns)
        found = found || integer_of(wanted, "onlyIn") == static_cast<int64_t>(turn.index);
      return found;
    }
    if (fields["every"].get(value) == simdjson::SUCCESS) {
      const int64_t every = integer_of(value, "every");
      if (every < 1) throw BadLine{"'every' must be at least 1"};
      return (turn.index + 1) % every == 0;
    }
    return true;
  }

  void add_event(EventKind kind, const object& fields, const Turn& turn) {
    Event event;
    event.kind = kind;
    int64_t pid = 1;
    std::optional<int64_t> tid, device, stream;
    std::optional<Ns> start;
    std::string name, args;
    std::optional<std::string_view> detail;
    std::vector<Field> payload;
    int32_t rank = -1, world_size = 0;
    for (const auto [key, value] : fields) {
      if (key == "kind" || key == "onlyIn" || key == "every") continue;
      if (key == "name")
        name = expand(text_of(value, key), turn);
      else if (key == "args")
        args = expand(text_of(value, key), turn);
      else if (key == "startNs")
        start = integer_of(value, key);
      else if (key == "startUs")
        start = std::llround(number_of(value, key) * 1e3);
      else if (key == "durationNs")
        event.duration = integer_of(value, key);
      else if (key == "durationUs")
        event.duration = std::llround(number_of(value, key) * 1e3);
      else if (key == "pid")
        pid = integer_of(value, key);
      else if (key == "tid")
        tid = integer_of(value, key);
      else if (key == "device")
        device = integer_of(value, key);
      else if (key == "stream")
        stream = integer_of(value, key);
      else if (key == "rank")
        rank = static_cast<int32_t>(integer_of(value, key));
      else if (key == "worldSize" && kind != EventKind::collective)
        world_size = static_cast<int32_t>(integer_of(value, key));
      else if (key == "correlation")
        event.correlation = correlation_of(integer_of(value, key), turn);
      else if (key == "detail")
        detail = text_of(value, key);
      else if (key == "stack")
        event.stack = read_stack(trace_, value);
      else if (key == "payload")
        add_fields(value, payload, turn);
      else
        add_field(key, value, payload, turn);
    }
    if (event.duration < 0) throw BadLine{"'durationNs' is negative"};
    const uint32_t process = process_of(pid);
    if (rank >= 0) trace_.processes[process].rank = rank;
    if (world_size > 0) trace_.processes[process].world_size = world_size;

    const bool streams_by_nature = kind == EventKind::kernel || kind == EventKind::memcpy ||
                                   kind == EventKind::memset || kind == EventKind::graph_launch;
    const bool threads_by_nature = kind == EventKind::api || kind == EventKind::thread_wait ||
                                   kind == EventKind::sample || kind == EventKind::alloc;
    if (!tid && !threads_by_nature && (stream || streams_by_nature)) {
      event.track = trace_.track(process, TrackKind::stream,
                                 static_cast<int32_t>(device.value_or(0)), stream.value_or(7));
    } else {
      event.track = trace_.track(process, TrackKind::thread, -1, tid.value_or(pid));
      if (device) payload.push_back(Field::of_integer(kKeyDevice, *device));
      if (stream) payload.push_back(Field::of_integer(kKeyStream, *stream));
    }
    if (ends_.size() <= event.track) ends_.resize(event.track + 1, 0);
    event.start = start ? *start + turn.shift : ends_[event.track];
    if (event.start > INT64_MAX - event.duration) throw BadLine{"the event ends beyond all time"};
    ends_[event.track] = event.start + event.duration;

    if (!args.empty()) {
      if (name.ends_with(args)) name.erase(name.size() - args.size());
      payload.push_back(Field::of_text(kKeyArgs, trace_.strings.intern(args)));
    }
    event.name = trace_.strings.intern(name);
    event.detail = detail ? detail_of(kind, *detail) : detail_from_name(kind, name);
    event.payload = trace_.add_payload(payload);
    trace_.add(event);
  }

  /// Turns keep their correlations apart by this much.
  static constexpr int64_t kCorrelationStride = 100'000;

  static uint32_t correlation_of(int64_t written, const Turn& turn) {
    if (written < 0 || written > UINT32_MAX) throw BadLine{"'correlation' must be 0 to 4294967295"};
    if (written == 0 || !turn.repeating) return static_cast<uint32_t>(written);
    return static_cast<uint32_t>(written + kCorrelationStride * (turn.index + 1));
  }

  static std::string expand(std::string_view text, const Turn& turn) {
    std::string result(text);
    if (!turn.repeating) return result;
    for (size_t at; (at = result.find("{i}")) != std::string::npos;)
      result.replace(at, 3, std::to_string(turn.index));
    return result;
  }

  void add_fields(const element& value, std::vector<Field>& payload, const Turn& turn) {
    object fields;
    if (value.get(fields) != simdjson::SUCCESS) throw BadLine{"'payload' must be an object"};
    for (const auto [key, field] : fields) add_field(key, field, payload, turn);
  }

  void add_field(std::string_view key, const element& value, std::vector<Field>& payload,
                 const Turn& turn) {
    const StringId id = trace_.strings.intern(key);
    switch (value.type()) {
      case simdjson::dom::element_type::INT64:
      case simdjson::dom::element_type::UINT64: {
        int64_t integer = 0;
        if (value.get(integer) != simdjson::SUCCESS)
          throw BadLine{"'" + std::string(key) + "' is beyond 64 bits"};
        // A sequence counts on through the turns, as collectives of later steps do.
        if (id == kKeySequence && turn.repeating) integer += kCorrelationStride * turn.index;
        payload.push_back(Field::of_integer(id, integer));
        break;
      }
      case simdjson::dom::element_type::DOUBLE:
        payload.push_back(Field::of_real(id, number_of(value, key)));
        break;
      case simdjson::dom::element_type::BOOL:
        payload.push_back(Field::of_integer(id, truth_of(value, key) ? 1 : 0));
        break;
      case simdjson::dom::element_type::STRING:
        payload.push_back(
            Field::of_text(id, trace_.strings.intern(expand(text_of(value, key), turn))));
        break;
      case simdjson::dom::element_type::NULL_VALUE:
        break;  // unknown
      default:
        throw BadLine{"field '" + std::string(key) + "' must be a number or a text"};
    }
  }

  uint32_t process_of(int64_t pid) {
    for (uint32_t i = 0; i < trace_.processes.size(); ++i)
      if (trace_.processes[i].pid == pid) return i;
    Process process;
    process.pid = pid;
    return trace_.add_process(std::move(process));
  }

  void add_process(const object& fields) {
    element pid;
    Process& process = trace_.processes[process_of(
        fields["pid"].get(pid) == simdjson::SUCCESS ? integer_of(pid, "pid") : 1)];
    for (const auto [key, value] : fields) {
      if (key == "rank")
        process.rank = static_cast<int32_t>(integer_of(value, key));
      else if (key == "localRank")
        process.local_rank = static_cast<int32_t>(integer_of(value, key));
      else if (key == "worldSize")
        process.world_size = static_cast<int32_t>(integer_of(value, key));
      else if (key == "host")
        process.host = text_of(value, key);
      else if (key == "name")
        process.name = text_of(value, key);
      else if (key != "kind" && key != "pid")
        throw BadLine{"unknown key '" + std::string(key) + "' of a process"};
    }
  }

  void add_hole(const object& fields) {
    CaptureHole hole;
    for (const auto [key, value] : fields) {
      if (key == "startNs") hole.start = integer_of(value, key);
      if (key == "durationNs") hole.duration = integer_of(value, key);
      if (key == "reason") hole.reason = text_of(value, key);
    }
    trace_.health.holes.push_back(std::move(hole));
  }

  void add_health(const object& fields) {
    for (const auto [key, value] : fields) {
      if (key == "lostRecords")
        trace_.health.lost_records = static_cast<uint64_t>(integer_of(value, key));
      else if (key == "discardedOldest")
        trace_.health.discarded_oldest = static_cast<uint64_t>(integer_of(value, key));
      else if (key == "cutShort")
        trace_.health.cut_short = truth_of(value, key);
      else if (key != "kind")
        throw BadLine{"unknown key '" + std::string(key) + "' of health"};
    }
  }

  void add_environment(const object& fields) {
    for (const auto [key, value] : fields)
      if (key != "kind") trace_.environment[std::string(key)] = text_of(value, key);
  }

  const EventLineOptions& options_;
  simdjson::dom::parser parser_;
  Trace trace_;
  std::vector<Ns> ends_;  // by track: where its last event ended
  std::vector<std::string> repeated_;
  int64_t repeat_count_ = 0;
  Ns repeat_every_ = 0;
  uint64_t repeat_line_ = 0;
};

}  // namespace

Result<Trace> read_event_lines(std::string_view text, const EventLineOptions& options) {
  return Reader(options).read(text);
}

}  // namespace stallscope
