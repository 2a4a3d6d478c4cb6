// KinetoBuilder: makes a Trace of the events of a Chrome trace, whichever
// profiler wrote it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/correlation_ids.h"
#include "import/decimal_time.h"
#include "import/json_repair.h"
#include "import/kineto_event.h"
#include "import/kineto_names.h"
#include "trace/trace.h"

namespace stallscope {

class KinetoBuilder {
 public:
  explicit KinetoBuilder(Trace& trace);

  /// A member of the outer object beside the events.
  void member(std::string_view key, std::string_view json);
  /// One event. False when `max_events` are there.
  bool event(const RawEvent& raw, uint64_t max_events);
  /// Resolves what could not be told before all events were there and finishes the trace.
  void finish(const std::string& path);

  Repairs& repairs() { return repairs_; }
  uint64_t events_seen() const { return seen_; }

 private:
  /// A process or thread as a trace names it: by number, else by a number given to its text.
  struct Lane {
    int64_t process = 0, thread = 0;
    bool operator==(const Lane&) const = default;
  };
  struct LaneHash {
    size_t operator()(const Lane& lane) const {
      return static_cast<size_t>(lane.process) * 0x9e3779b97f4a7c15ULL ^
             static_cast<size_t>(lane.thread) * 0xff51afd7ed558ccdULL;
    }
  };
  /// An event whose kind or correlation shows only at the end.
  struct Deferred {
    Event event;
    Lane lane;
    Role role = Role::unknown;
    StringId op = 0, source = 0;  ///< of XLA: framework operator, "file:line"
  };
  struct OpenRange {
    Event event;
    ExactTime start;
  };
  struct Flow {
    Lane lane;
    Ns time = 0;
    uint32_t correlation = 0;
    bool is_start = false;
  };

  // kineto_builder.cpp: events as they come.
  bool complete(const RawEvent& raw);
  void metadata(const RawEvent& raw);
  void instant(const RawEvent& raw);
  void counter(const RawEvent& raw);
  void flow(const RawEvent& raw);
  void begin(const RawEvent& raw);
  void end(const RawEvent& raw);
  std::optional<ExactTime> timestamp(const RawEvent& raw);
  Lane lane_of(const RawEvent& raw);
  StringId name_of(std::string_view name);
  int64_t number_of(std::string_view text, bool is_text);
  uint32_t correlation_of(const RawEvent& raw);
  uint32_t host_process(int64_t pid);
  TrackId host_track(const Lane& lane);
  TrackId device_track(const RawEvent& raw, const Lane& lane);
  Role cached_role(std::string_view category);
  void add(Event event, const Lane& lane, Role role, const RawEvent& raw);

  // kineto_payload.cpp: what an event's arguments say.
  PayloadId payload_of(const RawEvent& raw, Role role, Event& event);
  void collective_fields(const RawEvent& raw);
  void text_field(Key key, std::string_view text);
  void integer_field(const RawEvent& raw, Arg arg, Key key);
  StackId call_stack(std::string_view text);
  const CopyName& copy_name(StringId name);

  // kineto_groups.cpp: who takes part in collectives.
  void describe_groups(std::string_view config);
  void group_field(const RawEvent& raw);
  void name_groups_by_members();

  // kineto_finish.cpp: what shows only at the end.
  void close_open_ranges();
  void resolve_flows();
  void resolve_deferred();
  /// What kinds of lines an XLA device has.
  struct XlaLines {
    bool streams = false, ops = false;
  };
  /// The stream that a line of an XLA device is; none for one that shows the work again.
  std::optional<int64_t> xla_stream(const Lane& lane, const std::string& process_name,
                                    const XlaLines& lines) const;
  void resolve_xla_device(Deferred& item, const std::string& process_name, const XlaLines& lines);
  void resolve_host(Deferred& item);
  void assign_devices_to_processes();
  void name_tracks();
  void count_duplicate_correlations();
  void say_foreign();

  Trace& trace_;
  Repairs repairs_;
  uint64_t seen_ = 0;
  Ns last_time_ = INT64_MIN;
  Ns base_ = 0;

  std::vector<Field> fields_;  // of the event at hand
  std::unordered_map<int64_t, uint32_t> host_processes_;
  bool primary_named_ = false;
  std::unordered_map<std::string, int64_t> text_numbers_;
  CorrelationIds correlations_;
  std::vector<uint8_t> api_calls_;  // by name: 1 + ApiCall, 0 = not yet classified
  std::unordered_map<StringId, CopyName> copy_names_;
  struct RoleSlot {
    std::string category;
    Role role = Role::unknown;
  };
  std::array<RoleSlot, 64> roles_;
  bool knows_category_ = false;               // of at least one event
  std::set<std::string> foreign_categories_;  // some of those that no such profiler writes
  struct TrackSlot {
    Lane lane;
    TrackId track = 0;
    bool device = false, used = false;
  };
  std::array<TrackSlot, 256> track_slots_;
  struct LastLane {
    std::string process, thread;
    bool process_is_text = false, thread_is_text = false;
    Lane lane;
  };
  LastLane last_lane_;
  std::array<StringId, 4096> names_{};  // by the ends of the name; 0 = empty

  std::map<std::string, std::vector<int64_t>> group_members_;  // by the group's own name
  std::unordered_set<PayloadId> group_payloads_;               // that may name a group

  std::unordered_map<Lane, std::vector<OpenRange>, LaneHash> open_;
  std::vector<Flow> flows_;
  bool flows_needed_ = true;
  std::vector<Deferred> deferred_;
  std::unordered_map<int64_t, std::string> process_names_;
  std::unordered_map<Lane, std::string, LaneHash> thread_names_;
};

}  // namespace stallscope
