#include "import/sample_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "trace/sample_file.h"

namespace stallscope {
namespace {

constexpr const char* kRepair = "damaged sample lines left out";

template <typename T>
bool parse(std::string_view text, T& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size();
}

uint32_t process_of(Trace& trace, int64_t pid, const RankIdentity& identity) {
  for (uint32_t i = 0; i < trace.processes.size(); ++i)
    if (trace.processes[i].pid == pid) return i;
  Process process;
  process.pid = pid;
  process.rank = identity.rank;
  process.local_rank = identity.local_rank;
  process.world_size = identity.world_size;
  return trace.add_process(std::move(process));
}

/// Adds what the lines of one file say.
class Lines {
 public:
  Lines(Trace& trace, uint32_t process, const Symbolizer& symbolizer,
        const std::vector<CaptureWindow>* only)
      : trace_(trace),
        process_(process),
        symbolizer_(symbolizer),
        only_(only),
        name_(trace.strings.intern("sample")) {}

  bool add(std::string_view line) {
    const std::vector<std::string> fields = sample_fields(line);
    if (fields[0] == "e" && fields.size() >= 5 && fields.size() <= 7) return event(fields);
    if (fields[0] == "f" && fields.size() == 4) return frame(fields);
    if (fields[0] == "a" && fields.size() == 4) return native(fields);
    if (fields[0] == "s" && fields.size() == 2) return stack(fields[1]);
    if (fields[0] == "c" && fields.size() == 4) return counter(fields);
    if (fields[0] != "n" || fields.size() != 2) return false;
    trace_.health.warnings.push_back(fields[1]);
    return true;
  }

 private:
  bool event(const std::vector<std::string>& fields) {
    int64_t tid = 0;
    uint32_t stack = 0;
    Event event;
    event.kind = EventKind::sample;
    event.name = name_;
    if (!parse(fields[1], tid) || !parse(fields[2], event.start) ||
        !parse(fields[3], event.duration) || !parse(fields[4], stack) || event.start < 0 ||
        event.duration < 0 || stack >= stacks_.size())
      return false;
    // Files of earlier versions have no state.
    if (fields.size() >= 6 &&
        (!parse(fields[5], event.detail) || detail_name(event.kind, event.detail).empty()))
      return false;
    int64_t holder = 0;
    if (fields.size() == 7 && !parse(fields[6], holder)) return false;
    if (is_left_out(event.start)) return true;
    if (holder != 0) {
      const Field field = Field::of_integer(kKeyWakerTid, holder);
      event.payload = trace_.add_payload(std::span(&field, 1));
    }
    event.track = trace_.track(process_, TrackKind::thread, -1, tid);
    event.stack = stacks_[stack];
    trace_.add(event);
    return true;
  }

  bool counter(const std::vector<std::string>& fields) {
    double value = 0;
    Event event;
    event.kind = EventKind::counter;
    if (!parse(fields[1], event.start) || !parse(fields[3], value) || event.start < 0 ||
        !std::isfinite(value))
      return false;
    if (is_left_out(event.start)) return true;
    event.name = trace_.strings.intern(fields[2]);
    event.track = trace_.track(process_, TrackKind::thread, -1, trace_.processes[process_].pid);
    const Field field = Field::of_real(kKeyValue, value);
    event.payload = trace_.add_payload(std::span(&field, 1));
    trace_.add(event);
    return true;
  }

  bool is_left_out(Ns time) const { return only_ != nullptr && !in_window(*only_, time); }

  bool frame(const std::vector<std::string>& fields) {
    Frame frame;
    frame.kind = FrameKind::python;
    // A damaged frame keeps its number, so that those after it keep theirs.
    const bool good = parse(fields[1], frame.line);
    frame.function = trace_.strings.intern(fields[2]);
    frame.file = trace_.strings.intern(fields[3]);
    frames_.push_back(trace_.add_frame(frame));
    return good;
  }

  bool native(const std::vector<std::string>& fields) {
    NativeAddress place{.module_path = fields[2], .build_id = fields[3]};
    place.is_return_address = false;
    const bool good = parse(fields[1], place.address);
    std::vector<Frame> found;
    if (symbolizer_) symbolizer_(trace_, place, found);
    Frame frame;
    if (!found.empty()) {
      // Where a function begins another may be inlined: the last one is the function. A sample
      // says which function it was in, not which of its lines.
      frame = found.back();
      frame.file = 0;
      frame.line = 0;
    } else {
      const std::string& module = fields[2];
      frame.function = trace_.strings.intern(
          fmt::format("{}+{:#x}", module.substr(module.rfind('/') + 1), place.address));
      frame.module = trace_.strings.intern(module);
    }
    frames_.push_back(trace_.add_frame(frame));
    return good;
  }

  bool stack(std::string_view list) {
    std::vector<FrameId> frames;
    bool good = true;
    while (!list.empty()) {
      const size_t space = list.find(' ');
      uint32_t frame = 0;
      if (!parse(list.substr(0, space), frame) || frame >= frames_.size())
        good = false;
      else
        frames.push_back(frames_[frame]);
      list.remove_prefix(space == std::string_view::npos ? list.size() : space + 1);
    }
    stacks_.push_back(trace_.add_stack(frames));
    return good;
  }

  Trace& trace_;
  uint32_t process_;
  const Symbolizer& symbolizer_;
  const std::vector<CaptureWindow>* only_;
  StringId name_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
};

}  // namespace

Status read_samples(const std::string& path, Trace& into, const Symbolizer& symbolizer,
                    const std::vector<CaptureWindow>* only) {
  const Result<std::string> text = read_file(path, 8ULL << 30);
  if (!text) return text.error();
  std::string_view rest = *text;
  const auto next_line = [&rest] {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
  };
  int64_t pid = 0;
  RankIdentity identity;
  if (!parse_sample_head(next_line(), pid, identity))
    return Error{.message = "is no file of stack samples", .file = path, .line = 1};
  Lines lines(into, process_of(into, pid, identity), symbolizer, only);
  // A cut last line has no line break: the recorder was killed while writing it.
  if (const size_t end = rest.rfind('\n'); end != std::string_view::npos)
    rest = rest.substr(0, end + 1);
  else
    rest = {};
  while (!rest.empty())
    if (!lines.add(next_line())) ++into.health.repairs[kRepair];
  return ok_status();
}

}  // namespace stallscope
