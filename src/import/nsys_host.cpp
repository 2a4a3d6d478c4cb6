// The host's side of an nsys export: runtime calls with their call chains,
// operating-system waits, MPI, libraries and the profiler's own time.
#include <array>

#include "import/nsys_builder.h"

namespace stallscope {
namespace {

// Calls in which a thread waits for another one of its process.
bool waits_for_thread(std::string_view call) {
  for (std::string_view part :
       {"pthread_cond_", "pthread_mutex_", "pthread_rwlock_", "pthread_join", "pthread_barrier_",
        "sem_wait", "sem_timedwait", "sem_clockwait", "futex"})
    if (call.starts_with(part)) return true;
  return false;
}

}  // namespace

void NsysBuilder::read_callchains() {
  constexpr std::array<std::string_view, 3> kColumns = {"id", "symbol", "module"};
  constexpr std::string_view kTable = "CUDA_CALLCHAINS";
  SqliteTable probe = database_.rows(kTable, std::array<std::string_view, 2>{"id", "stackDepth"});
  if (!database_.has(kTable) || !probe.has(0) || !probe.has(1)) return;
  // Depth 0 is the innermost.
  SqliteTable row = database_.rows(kTable, kColumns, "id, stackDepth");
  std::vector<FrameId> frames;
  std::optional<int64_t> chain;
  const auto close = [&] {
    if (chain && !frames.empty()) callchains_[*chain] = trace_.add_stack(frames);
    frames.clear();
  };
  while (row.next()) {
    const std::optional<int64_t> id = row.integer(0);
    if (!id) continue;
    if (chain != id) close();
    chain = id;
    frames.push_back(trace_.add_frame({.function = string(row.integer(1)),
                                       .module = string(row.integer(2)),
                                       .kind = FrameKind::native}));
  }
  close();
  ended(row, kTable);
}

void NsysBuilder::read_calls(std::string_view table) {
  enum : size_t { start, end, tid, correlation, name, result, chain };
  constexpr std::array<std::string_view, 7> kColumns = {
      "start", "end", "globalTid", "correlationId", "nameId", "returnValue", "callchainId"};
  SqliteTable row = database_.rows(table, kColumns);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::api;
    if (!interval(row, start, end, event)) continue;
    event.track = thread_track(row.integer(tid));
    event.correlation = correlations_.fold(row.integer(correlation).value_or(0), repairs_);
    const RuntimeNames::Call call = runtime_names_.call(trace_, string(row.integer(name)));
    event.name = call.name;
    event.detail = call.detail;
    if (row.integer(result).value_or(0) != 0) integer_field(kKeyResult, row.integer(result));
    const auto stack = callchains_.find(row.integer(chain).value_or(-1));
    if (stack != callchains_.end()) event.stack = stack->second;
    add(event);
  }
  ended(row, table);
}

void NsysBuilder::read_os_runtime() {
  enum : size_t { start, end, tid, name };
  constexpr std::array<std::string_view, 4> kColumns = {"start", "end", "globalTid", "nameId"};
  constexpr std::string_view kTable = "OSRT_API";
  SqliteTable row = database_.rows(kTable, kColumns);
  const StringId domain = trace_.strings.intern("OSRT");
  while (row.next() && !full_) {
    Event event;
    if (!interval(row, start, end, event)) continue;
    event.track = thread_track(row.integer(tid));
    event.name = string(row.integer(name));
    const bool waits = waits_for_thread(trace_.text(event.name));
    event.kind = waits ? EventKind::thread_wait : EventKind::range;
    text_field(kKeyDomain, domain);
    add(event);
  }
  ended(row, kTable);
}

void NsysBuilder::read_overhead(std::string_view table) {
  enum : size_t { start, end, tid, name, type };
  constexpr std::array<std::string_view, 5> kColumns = {"start", "end", "globalTid", "nameId",
                                                        "overheadType"};
  SqliteTable row = database_.rows(table, kColumns);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::overhead;
    if (!interval(row, start, end, event)) continue;
    event.track = thread_track(row.integer(tid));
    event.name = string(row.integer(name));
    if (event.name == 0) event.name = trace_.strings.intern("profiler overhead");
    integer_field(kKeyCategory, row.integer(type));
    add(event);
  }
  ended(row, table);
}

void NsysBuilder::read_mpi(std::string_view table, std::string_view peer_column) {
  enum : size_t { start, end, tid, name, group, peer, bytes };
  const std::array<std::string_view, 7> columns = {"start",      "end",       "globalTid", "textId",
                                                   "commHandle", peer_column, "size"};
  SqliteTable row = database_.rows(table, columns);
  const StringId domain = trace_.strings.intern("MPI");
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::collective;
    if (!interval(row, start, end, event)) continue;
    event.track = thread_track(row.integer(tid));
    event.name = string(row.integer(name));
    event.detail = static_cast<uint8_t>(classify_collective(trace_.text(event.name)));
    text_field(kKeyDomain, domain);
    integer_field(kKeyBytes, row.integer(bytes));
    integer_field(kKeyPeer, row.integer(peer));
    if (row.integer(group))
      text_field(kKeyGroup, trace_.strings.intern(std::to_string(*row.integer(group))));
    add(event);
  }
  ended(row, table);
}

void NsysBuilder::read_library_calls(std::string_view table, std::string_view domain) {
  enum : size_t { start, end, tid, name };
  constexpr std::array<std::string_view, 4> kColumns = {"start", "end", "globalTid", "nameId"};
  SqliteTable row = database_.rows(table, kColumns);
  const StringId domain_id = trace_.strings.intern(domain);
  while (row.next() && !full_) {
    Event event;
    event.kind = EventKind::range;
    if (!interval(row, start, end, event)) continue;
    event.track = thread_track(row.integer(tid));
    event.name = string(row.integer(name));
    text_field(kKeyDomain, domain_id);
    add(event);
  }
  ended(row, table);
}

}  // namespace stallscope
