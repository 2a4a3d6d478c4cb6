// NsysBuilder: makes a Trace of the tables of an nsys SQLite export.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/correlation_ids.h"
#include "import/importer.h"
#include "import/json_repair.h"
#include "import/runtime_names.h"
#include "import/sqlite_reader.h"
#include "trace/trace.h"

namespace stallscope {

class NsysBuilder {
 public:
  NsysBuilder(const SqliteReader& database, Trace& trace, uint64_t max_events);

  /// Reads every table that is understood. Errors: the limit on events.
  Status read();

 private:
  // nsys_builder.cpp: what the tables share.
  void read_strings();
  void read_processes();
  void read_environment();
  void read_diagnostics();
  StringId string(std::optional<int64_t> id) const;
  uint32_t process_of(std::optional<int64_t> global_id);
  TrackId thread_track(std::optional<int64_t> global_tid);
  TrackId stream_track(std::optional<int64_t> global_pid, int64_t device, int64_t stream);
  /// Sets start and duration; false when the row has no readable start.
  bool interval(const SqliteTable& row, size_t start, size_t end, Event& event);
  void add(Event& event);
  void ended(const SqliteTable& table, std::string_view name);
  void text_field(Key key, StringId text);
  void integer_field(Key key, std::optional<int64_t> value);

  // nsys_device.cpp
  void read_kernels();
  void read_copies();
  void read_memsets();
  void read_graphs();
  void read_event_records();
  void read_syncs();
  void read_memory();

  // nsys_host.cpp
  void read_callchains();
  void read_calls(std::string_view table);
  void read_os_runtime();
  void read_overhead(std::string_view table);
  void read_mpi(std::string_view table, std::string_view peer_column);
  void read_library_calls(std::string_view table, std::string_view domain);

  // nsys_nvtx.cpp
  void read_nvtx();
  void nvtx_payload(const SqliteTable& row);
  void json_payload(std::string_view json, uint32_t process);

  const SqliteReader& database_;
  Trace& trace_;
  uint64_t max_events_;
  bool full_ = false;
  Repairs repairs_;
  CorrelationIds correlations_;
  std::vector<Field> fields_;  // of the row at hand
  std::unordered_map<int64_t, StringId> strings_;
  std::unordered_map<int64_t, uint32_t> processes_;  // by the process part of a global id
  std::unordered_map<int64_t, TrackId> thread_tracks_;
  std::unordered_map<int64_t, StackId> callchains_;
  std::unordered_map<int64_t, int64_t> record_of_sync_;  // eventSyncId -> correlation
  RuntimeNames runtime_names_;
  Ns last_time_ = INT64_MIN;
};

/// Splits "aten::mul, op_id = 7" into its stem and ", op_id = 7".
std::pair<std::string_view, std::string_view> split_arguments(std::string_view text);

/// Reads an SQLite export. Errors: not readable, no table of an export, the limit on events.
Result<Trace> read_nsys_sqlite(const std::string& path, const ImportOptions& options);

}  // namespace stallscope
