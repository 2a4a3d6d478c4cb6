#include "import/nsys_builder.h"

#include <algorithm>
#include <array>

#include "import/nesting.h"

namespace stallscope {
namespace {

constexpr char kNoRowTime[] = "row without a readable time skipped";
constexpr char kNegativeRow[] = "negative duration read as 0";
constexpr size_t kMaxRowWarnings = 8;

// globalTid = hardware << 56 | virtual machine << 48 | process << 24 | thread.
constexpr int64_t kThreadBits = 0xFFFFFF;
constexpr int64_t process_part(int64_t global_id) {
  return global_id & ~kThreadBits;
}
constexpr int64_t pid_of(int64_t global_id) {
  return global_id >> 24 & kThreadBits;
}

}  // namespace

NsysBuilder::NsysBuilder(const SqliteReader& database, Trace& trace, uint64_t max_events)
    : database_(database), trace_(trace), max_events_(max_events) {
  trace_.health.clock_source = "nsys";
}

Status NsysBuilder::read() {
  read_strings();
  read_environment();
  read_diagnostics();
  read_callchains();
  read_kernels();
  read_copies();
  read_memsets();
  read_graphs();
  read_event_records();  // before the waits that name them
  read_syncs();
  read_memory();
  read_calls("CUPTI_ACTIVITY_KIND_RUNTIME");
  read_calls("CUPTI_ACTIVITY_KIND_DRIVER");
  read_overhead("CUPTI_ACTIVITY_KIND_OVERHEAD");
  read_overhead("PROFILER_OVERHEAD");
  read_os_runtime();
  read_mpi("MPI_COLLECTIVES_EVENTS", "rootRank");
  read_mpi("MPI_P2P_EVENTS", "remoteRank");
  read_library_calls("CUDNN_EVENTS", "cuDNN");
  read_library_calls("CUBLAS_EVENTS", "cuBLAS");
  read_nvtx();
  read_processes();  // those that did something
  if (full_)
    return Error{.message = "holds more than " + std::to_string(max_events_) + " events",
                 .remedy = "export a shorter window with nsys export --times"};
  trace_.finish();
  add_nesting_stacks(trace_);
  for (const auto& [what, count] : repairs_) trace_.health.repairs[what] += count;
  return ok_status();
}

void NsysBuilder::ended(const SqliteTable& table, std::string_view name) {
  if (table.error().empty()) return;
  ++repairs_["table " + std::string(name) + " broke off: " + table.error()];
  trace_.health.cut_short = true;
}

void NsysBuilder::read_strings() {
  constexpr std::array<std::string_view, 2> kColumns = {"id", "value"};
  SqliteTable table = database_.rows("StringIds", kColumns);
  while (table.next())
    if (const auto id = table.integer(0)) strings_[*id] = trace_.strings.intern(table.text(1));
  ended(table, "StringIds");
}

StringId NsysBuilder::string(std::optional<int64_t> id) const {
  if (!id) return 0;
  const auto found = strings_.find(*id);
  return found == strings_.end() ? 0 : found->second;
}

uint32_t NsysBuilder::process_of(std::optional<int64_t> global_id) {
  const int64_t key = process_part(global_id.value_or(0));
  const auto found = processes_.find(key);
  if (found != processes_.end()) return found->second;
  Process process;
  process.pid = pid_of(key);
  return processes_[key] = trace_.add_process(std::move(process));
}

TrackId NsysBuilder::thread_track(std::optional<int64_t> global_tid) {
  const int64_t key = global_tid.value_or(0);
  const auto found = thread_tracks_.find(key);
  if (found != thread_tracks_.end()) return found->second;
  const TrackId track =
      trace_.track(process_of(global_tid), TrackKind::thread, -1, key & kThreadBits);
  return thread_tracks_[key] = track;
}

TrackId NsysBuilder::stream_track(std::optional<int64_t> global_pid, int64_t device,
                                  int64_t stream) {
  // CUPTI's "no stream" is all ones.
  if (stream == 0xFFFFFFFF) stream = -1;
  return trace_.track(process_of(global_pid), TrackKind::stream, static_cast<int32_t>(device),
                      stream);
}

bool NsysBuilder::interval(const SqliteTable& row, size_t start, size_t end, Event& event) {
  const std::optional<int64_t> from = row.integer(start), to = row.integer(end);
  constexpr int64_t kLimit = INT64_MAX / 4;
  if (!from || *from > kLimit || *from < -kLimit || (to && *to > kLimit)) {
    ++repairs_[kNoRowTime];
    return false;
  }
  event.start = *from;
  event.duration = to.value_or(*from) - *from;
  if (event.duration < 0) {
    ++repairs_[kNegativeRow];
    event.duration = 0;
  }
  last_time_ = std::max(last_time_, event.start + event.duration);
  return true;
}

void NsysBuilder::add(Event& event) {
  if (!fields_.empty()) event.payload = trace_.add_payload(fields_);
  fields_.clear();
  full_ = full_ || trace_.size() >= max_events_;
  if (!full_) trace_.add(event);
}

void NsysBuilder::text_field(Key key, StringId text) {
  if (text != 0) fields_.push_back(Field::of_text(key, text));
}

void NsysBuilder::integer_field(Key key, std::optional<int64_t> value) {
  if (value) fields_.push_back(Field::of_integer(key, *value));
}

void NsysBuilder::read_processes() {
  constexpr std::array<std::string_view, 3> kColumns = {"globalPid", "pid", "name"};
  SqliteTable table = database_.rows("PROCESSES", kColumns);
  while (table.next()) {
    const auto global = table.integer(0);
    const auto found = global ? processes_.find(process_part(*global)) : processes_.end();
    if (found != processes_.end()) trace_.processes[found->second].name = table.text(2);
  }
  ended(table, "PROCESSES");

  constexpr std::array<std::string_view, 2> kNames = {"globalTid", "nameId"};
  SqliteTable names = database_.rows("ThreadNames", kNames);
  while (names.next()) {
    const auto found = thread_tracks_.find(names.integer(0).value_or(-1));
    if (found != thread_tracks_.end()) trace_.tracks[found->second].name = string(names.integer(1));
  }
  ended(names, "ThreadNames");

  constexpr std::array<std::string_view, 2> kRanks = {"globalTid", "rank"};
  SqliteTable ranks = database_.rows("MPI_RANKS", kRanks);
  while (ranks.next()) {
    const auto global = ranks.integer(0), rank = ranks.integer(1);
    const auto found = global ? processes_.find(process_part(*global)) : processes_.end();
    if (found != processes_.end() && rank && *rank >= 0 && *rank < INT32_MAX)
      trace_.processes[found->second].rank = static_cast<int32_t>(*rank);
  }
  ended(ranks, "MPI_RANKS");
}

void NsysBuilder::read_environment() {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"NvDriverVersion", "driver.version"},
      {"Hostname", "host.name"},
      {"CpuDescription", "cpu.model"},
      {"OsDescription", "os.name"},
      {"CpuCores", "cpu.count"},
  };
  constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
  SqliteTable system = database_.rows("TARGET_INFO_SYSTEM_ENV", kColumns);
  while (system.next())
    for (const auto& [name, key] : kNames)
      if (system.text(0) == name && !system.text(1).empty() && system.text(1) != "unknown")
        trace_.environment[std::string(key)] = system.text(1);
  ended(system, "TARGET_INFO_SYSTEM_ENV");

  constexpr std::array<std::string_view, 1> kGpu = {"name"};
  SqliteTable gpus = database_.rows("TARGET_INFO_GPU", kGpu);
  size_t count = 0;
  for (; gpus.next(); ++count) trace_.environment["gpu.name"] = gpus.text(0);
  if (count > 0) trace_.environment["gpu.count"] = std::to_string(count);
  ended(gpus, "TARGET_INFO_GPU");

  SqliteTable exported = database_.rows("META_DATA_EXPORT", kColumns);
  while (exported.next())
    if (exported.text(0) == "EXPORT_PRODUCT_VERSION")
      trace_.environment["nsys.version"] = exported.text(1);
  ended(exported, "META_DATA_EXPORT");
}

void NsysBuilder::read_diagnostics() {
  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL: 2 warning, 3 error.
  constexpr std::array<std::string_view, 2> kColumns = {"severity", "text"};
  SqliteTable table = database_.rows("DIAGNOSTIC_EVENT", kColumns);
  while (table.next() && trace_.health.warnings.size() < kMaxRowWarnings) {
    const int64_t severity = table.integer(0).value_or(0);
    if (severity == 2 || severity == 3)
      trace_.health.warnings.push_back("nsys warned: " + std::string(table.text(1).substr(0, 400)));
  }
  ended(table, "DIAGNOSTIC_EVENT");
}

}  // namespace stallscope
