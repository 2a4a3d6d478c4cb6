// Trace: the events of a run as columns, on tracks, with one string table.
// Every importer fills one, every analysis reads one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_table.h"
#include "base/units.h"
#include "trace/event.h"
#include "trace/health.h"

namespace stallscope {

/// One operating-system process of the run.
struct Process {
  int64_t pid = 0;
  int32_t rank = -1;  ///< -1 = not part of a distributed run
  int32_t local_rank = -1;
  int32_t world_size = 0;  ///< 0 = unknown
  std::string host{};
  std::string name{};  ///< command or profiler's label
};

enum class TrackKind : uint8_t { thread, stream };

/// A line of the timeline: one host thread, or one stream of one device.
struct Track {
  uint32_t process = 0;  ///< index into Trace::processes
  TrackKind kind = TrackKind::thread;
  int32_t device = -1;  ///< -1 for host threads
  int64_t id = 0;       ///< tid, or stream number
  StringId name = 0;
};

enum class FrameKind : uint8_t { native, python, op };

/// One level of a stack. `line` 0 = unknown.
struct Frame {
  StringId function = 0;
  StringId file = 0;
  StringId module = 0;  ///< shared object or Python module
  uint32_t line = 0;
  FrameKind kind = FrameKind::native;
  bool operator==(const Frame&) const = default;
};

/// One payload field. `key` is a Key or the id of the field's name.
struct Field {
  enum class Type : uint8_t { integer, real, text };
  StringId key = 0;
  Type type = Type::integer;
  union {
    int64_t integer;
    double real;
    StringId text;
  };
  Field() : integer(0) {}
  static Field of_integer(StringId key, int64_t value);
  static Field of_real(StringId key, double value);
  static Field of_text(StringId key, StringId value);
  bool operator==(const Field& other) const;
};

/// One row, used to add events and where speed does not matter.
struct Event {
  EventKind kind = EventKind::marker;
  uint8_t detail = 0;  ///< ApiCall, CopyKind, ... by kind (see event.h)
  Ns start = 0;
  Ns duration = 0;
  TrackId track = 0;
  StringId name = 0;         ///< stem; a tail of arguments is in kKeyArgs
  uint32_t correlation = 0;  ///< joins a call with its device work within a process; 0 = none
  StackId stack = 0;
  PayloadId payload = 0;
};

/// Events as columns plus the tables they refer to. Fill with add_*, then call
/// finish() once; afterwards rows are ordered by track, then start, then
/// longest first, so that an enclosing interval precedes what it encloses.
class Trace {
 public:
  Trace();
  Trace(Trace&&) noexcept = default;
  Trace& operator=(Trace&&) noexcept = default;

  // Building.
  uint32_t add_process(Process process);
  /// The track of (process, kind, device, id), added if new.
  TrackId track(uint32_t process, TrackKind kind, int32_t device, int64_t id);
  FrameId add_frame(const Frame& frame);
  /// Interns a stack, innermost frame first. 0 for an empty one.
  StackId add_stack(std::span<const FrameId> innermost_first);
  /// Interns a field list. 0 for an empty one.
  PayloadId add_payload(std::span<const Field> fields);
  void add(const Event& event);
  void reserve(size_t events);
  /// Moves every event by `offset`, for producers that state their time base last.
  void shift_times(Ns offset);
  void finish();
  /// What is only known once all events are there and in order.
  void set_stack(EventId id, StackId stack) { stack_[id] = stack; }
  void set_payload(EventId id, PayloadId payload) { payload_[id] = payload; }

  // Reading.
  size_t size() const { return kind_.size(); }
  Event event(EventId id) const;
  Ns end(EventId id) const { return start_[id] + duration_[id]; }
  std::string_view text(StringId id) const { return strings.text(id); }
  std::string_view name(EventId id) const { return strings.text(name_[id]); }
  /// Stem and arguments, as the program wrote it.
  std::string full_name(EventId id) const;
  std::span<const FrameId> stack(StackId id) const;
  const Frame& frame(FrameId id) const { return frames_[id]; }
  std::span<const Field> payload(PayloadId id) const;
  const Field* field(EventId id, StringId key) const;
  /// An integer field (a real one is rounded); nullopt when absent.
  std::optional<int64_t> integer(EventId id, StringId key) const;
  std::optional<double> number(EventId id, StringId key) const;
  /// A text field; empty when absent.
  std::string_view text_field(EventId id, StringId key) const;
  /// Rows [first, last) of a track. Valid after finish().
  std::pair<EventId, EventId> rows(TrackId track) const;

  std::span<const EventKind> kinds() const { return kind_; }
  std::span<const uint8_t> details() const { return detail_; }
  std::span<const Ns> starts() const { return start_; }
  std::span<const Ns> durations() const { return duration_; }
  std::span<const TrackId> tracks_of_events() const { return track_; }
  std::span<const StringId> names() const { return name_; }
  std::span<const uint32_t> correlations() const { return correlation_; }
  std::span<const StackId> stacks() const { return stack_; }
  std::span<const PayloadId> payloads() const { return payload_; }
  size_t stack_count() const { return stack_begin_.size() - 1; }

  StringTable strings;
  std::vector<Process> processes;
  std::vector<Track> tracks;
  TraceHealth health;
  /// Free-form facts for the report: "gpu.name", "driver.version", "cpu.model", ...
  std::map<std::string, std::string> environment;
  /// "recorded", "kineto", "nsys": for the report's text only; no analysis may look at it.
  std::string producer;

 private:
  std::vector<EventKind> kind_;
  std::vector<uint8_t> detail_;
  std::vector<Ns> start_, duration_;
  std::vector<TrackId> track_;
  std::vector<StringId> name_;
  std::vector<uint32_t> correlation_;
  std::vector<StackId> stack_;
  std::vector<PayloadId> payload_;

  std::vector<Frame> frames_;
  std::vector<FrameId> stack_frames_;
  std::vector<uint32_t> stack_begin_;
  std::vector<Field> fields_;
  std::vector<uint32_t> payload_begin_;
  std::vector<EventId> track_begin_;
  std::unordered_multimap<uint64_t, uint32_t> track_index_, frame_index_, stack_index_,
      payload_index_;
};

/// A CUDA function as a program writes it: CUPTI's names say too in which version of the interface
/// it came and which default stream it takes ("cudaMemcpyAsync_ptsz_v7000" is cudaMemcpyAsync).
std::string_view function_in_source(std::string_view function);

/// What kind of call a runtime function is, by its name in any of the known
/// runtimes (cudaX, cuX, hipX; version suffixes such as _v3020 and _ptsz ignored).
ApiCall classify_api(std::string_view function);

/// The copy kind that a runtime's name for a copy states, e.g. "Memcpy DtoH (Device -> Pinned)".
CopyKind classify_copy(std::string_view name);

/// The collective a kernel, NVTX range or function name stands for, e.g.
/// "ncclDevKernel_AllReduce_Sum_f32_RING_LL" or "MPI_Iallreduce".
CollectiveOp classify_collective(std::string_view name);

/// True when a device kernel belongs to a collective library: its name
/// contains "nccl" or "rccl" in any case.
bool is_collective_kernel(std::string_view kernel_name);

}  // namespace stallscope
