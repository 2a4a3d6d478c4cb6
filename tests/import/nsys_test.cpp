// nsys exports: a tiny one with every table, ones that lack most of it, broken ones.
#include <sqlite3.h>

#include <map>

#include "import/import_support.h"
#include "import/nsys_builder.h"

using namespace stallscope;
using namespace stallscope::test;

namespace {

class Database {
 public:
  explicit Database(std::string_view sql) : file_("nsys.sqlite", "") {
    std::filesystem::remove(file_.path());
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(file_.path().c_str(), &database) == SQLITE_OK);
    char* message = nullptr;
    const int code = sqlite3_exec(database, std::string(sql).c_str(), nullptr, nullptr, &message);
    CAPTURE(std::string(message == nullptr ? "" : message));
    CHECK(code == SQLITE_OK);
    sqlite3_free(message);
    sqlite3_close(database);
  }
  const std::string& path() const { return file_.path(); }

 private:
  TempFile file_;
};

// Process 111 of machine 1, thread 7.
constexpr char kIds[] = "281476838981632", kTid[] = "281476838981639";

std::string with_ids(std::string text) {
  for (const auto& [mark, id] : {std::pair{"$PID", kIds}, std::pair{"$TID", kTid}})
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, 4, id);
  return text;
}

EventId only(const Trace& trace, EventKind kind) {
  EventId found = 0;
  int count = 0;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.kinds()[id] != kind) continue;
    found = id;
    ++count;
  }
  CAPTURE(to_string(kind));
  REQUIRE(count == 1);
  return found;
}

constexpr char kStrings[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES "
    "(1,'cudaLaunchKernel_v7000'),(2,'my_kernel(int)'),(3,'my_kernel'),"
    "(4,'train_step'),(5,'libtorch.so'),(6,'pthread_cond_wait'),(7,'MPI_Allreduce'),(8,'aten::relu'"
    "),"
    "(9,'poll'),(10,'main thread');";

}  // namespace

TEST_CASE("every table of an export that is understood") {
  const Database database(std::string(kStrings) + with_ids(R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start,end,deviceId,contextId,streamId,correlationId,globalPid,demangledName,shortName,gridX,gridY,gridZ,blockX,blockY,blockZ,graphNodeId);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,1,1,7,42,$PID,2,3,4,5,6,128,1,1,9);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start,end,deviceId,streamId,correlationId,globalPid,bytes,copyKind,srcKind,dstKind);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (160,170,1,7,43,$PID,16,2,2,0);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start,end,deviceId,streamId,correlationId,globalPid,bytes);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (171,172,1,7,44,$PID,64);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start,end,deviceId,streamId,correlationId,globalPid,graphId);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (200,300,1,7,45,$PID,3);
    CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp,deviceId,streamId,correlationId,globalPid,eventId,eventSyncId);
    INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (151,1,7,46,$PID,5,77);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start,end,deviceId,streamId,correlationId,globalPid,syncType,eventId,eventSyncId);
    INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (152,153,1,20,47,$PID,2,5,77),(154,158,1,4294967295,48,$PID,4,0,0);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start,end,globalTid,correlationId,nameId,returnValue,callchainId);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90,95,$TID,42,1,0,12);
    CREATE TABLE CUDA_CALLCHAINS (id,symbol,module,stackDepth);
    INSERT INTO CUDA_CALLCHAINS VALUES (12,4,5,1),(12,8,5,0);
    CREATE TABLE OSRT_API (start,end,globalTid,nameId);
    INSERT INTO OSRT_API VALUES (10,20,$TID,6),(21,22,$TID,9);
    CREATE TABLE MPI_COLLECTIVES_EVENTS (start,end,globalTid,textId,commHandle,rootRank,size);
    INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (30,40,$TID,7,1140850688,NULL,4096);
    CREATE TABLE MPI_RANKS (globalTid,rank);
    INSERT INTO MPI_RANKS VALUES ($TID,5);
    CREATE TABLE PROFILER_OVERHEAD (start,end,globalTid,nameId,overheadType);
    INSERT INTO PROFILER_OVERHEAD VALUES (50,60,$TID,NULL,3);
    CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start,globalPid,deviceId,address,bytes,memoryOperationType);
    INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (61,$PID,1,4096,512,1);
    CREATE TABLE NVTX_EVENTS (start,end,eventType,text,globalTid,textId,domainId,uint64Value,jsonText);
    INSERT INTO NVTX_EVENTS VALUES (0,NULL,75,'NCCL',$TID,NULL,3,NULL,NULL),
      (80,400,59,NULL,$TID,4,0,7,NULL),
      (85,99,59,'aten::linear, op_id = 12',$TID,NULL,0,NULL,NULL),
      (86,98,59,'ncclAllReduce',$TID,NULL,3,NULL,'{"NCCL communicator ID": 9, "Message size [bytes]": 2048}');
    CREATE TABLE ThreadNames (nameId,priority,globalTid);
    INSERT INTO ThreadNames VALUES (10,20,$TID);
    CREATE TABLE PROCESSES (globalPid,pid,name);
    INSERT INTO PROCESSES VALUES ($PID,111,'python3');
    CREATE TABLE DIAGNOSTIC_EVENT (timestamp,severity,text);
    INSERT INTO DIAGNOSTIC_EVENT VALUES (1,2,'Not all NVTX events might have been collected.'),(2,1,'fine');
    CREATE TABLE TARGET_INFO_GPU (name TEXT); INSERT INTO TARGET_INFO_GPU VALUES ('NVIDIA H100');
  )"));
  Result<Trace> imported = import_with("nsys", database.path());
  REQUIRE_MESSAGE(imported.ok(), (imported.ok() ? "" : imported.error().to_string()));
  const Trace& trace = *imported;
  CHECK(trace.health.repairs.empty());
  const auto track = [&](EventId id) { return trace.tracks[trace.tracks_of_events()[id]]; };

  const EventId kernel = only(trace, EventKind::kernel);
  CHECK(trace.name(kernel) == "my_kernel(int)");
  CHECK(trace.starts()[kernel] == 100);
  CHECK(trace.durations()[kernel] == 50);
  CHECK(trace.correlations()[kernel] == 42);
  CHECK(track(kernel).device == 1);
  CHECK(track(kernel).id == 7);
  CHECK(trace.text_field(kernel, kKeyGrid) == "[4, 5, 6]");
  CHECK(trace.integer(kernel, kKeyGraphNode) == 9);
  const EventId copy = only(trace, EventKind::memcpy);
  CHECK(trace.details()[copy] == static_cast<uint8_t>(CopyKind::device_to_host));
  CHECK(trace.text_field(copy, kKeyTargetMemory) == "pageable");
  CHECK(trace.integer(only(trace, EventKind::graph_launch), kKeyGraph) == 3);
  const EventId wait = only(trace, EventKind::stream_wait);
  CHECK(trace.integer(wait, kKeyEventRecord) == 46);
  CHECK(track(wait).id == 20);
  const EventId sync = only(trace, EventKind::sync);
  CHECK(trace.details()[sync] == static_cast<uint8_t>(SyncKind::device));
  CHECK(track(sync).id == -1);
  const EventId call = only(trace, EventKind::api);
  CHECK(trace.details()[call] == static_cast<uint8_t>(ApiCall::launch));
  // Its call chain lies inside the operator around it.
  std::string stack;
  for (FrameId frame : trace.stack(trace.stacks()[call]))
    stack += std::string(trace.text(trace.frame(frame).function)) + ";";
  CHECK(stack == "aten::relu;train_step;aten::linear;");
  CHECK(trace.name(only(trace, EventKind::thread_wait)) == "pthread_cond_wait");
  const EventId collective = only(trace, EventKind::collective);
  CHECK(trace.details()[collective] == static_cast<uint8_t>(CollectiveOp::all_reduce));
  CHECK(trace.integer(collective, kKeyBytes) == 4096);
  CHECK(trace.durations()[only(trace, EventKind::overhead)] == 10);
  CHECK(trace.details()[only(trace, EventKind::alloc)] == static_cast<uint8_t>(AllocKind::release));
  CHECK(trace.processes[0].pid == 111);
  CHECK(trace.processes[0].rank == 5);
  CHECK(trace.processes[0].name == "python3");
  CHECK(trace.text(track(call).name) == "main thread");
  CHECK(trace.environment.at("gpu.name") == "NVIDIA H100");
  REQUIRE(trace.health.warnings.size() == 1);

  std::map<std::string, EventId> ranges;
  for (EventId id = 0; id < trace.size(); ++id)
    if (trace.kinds()[id] == EventKind::range) ranges[std::string(trace.name(id))] = id;
  CHECK(ranges.size() == 4);  // with poll
  CHECK(trace.integer(ranges.at("train_step"), kKeyValue) == 7);
  CHECK(trace.text_field(ranges.at("aten::linear"), kKeyArgs) == ", op_id = 12");
  CHECK(trace.details()[ranges.at("aten::linear")] == static_cast<uint8_t>(RangeKind::op));
  CHECK(trace.text_field(ranges.at("ncclAllReduce"), kKeyDomain) == "NCCL");
  CHECK(trace.integer(ranges.at("ncclAllReduce"), kKeyBytes) == 2048);
  CHECK(trace.text_field(ranges.at("ncclAllReduce"), kKeyGroup) == "9");
}

TEST_CASE("missing tables, columns, values and wrong types are lived with and stated") {
  struct Case {
    const char* fault;
    const char* sql;
    size_t events;
    const char* repair;  // nullptr: none needed
  };
  for (const Case& c : std::initializer_list<Case>{
           {"no strings",
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start,end,deviceId,streamId);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7);",
            1, nullptr},
           {"an old export without a correlation",
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start,end,nameId);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,1);",
            1, nullptr},
           {"times as text",
            "CREATE TABLE OSRT_API (start TEXT,end TEXT);"
            "INSERT INTO OSRT_API VALUES ('5','9');",
            1, nullptr},
           {"NULL start",
            "CREATE TABLE OSRT_API (start,end); INSERT INTO OSRT_API VALUES (NULL,9),(1,2);", 1,
            "row without a readable time skipped"},
           {"a word for a time",
            "CREATE TABLE OSRT_API (start,end);"
            "INSERT INTO OSRT_API VALUES ('soon',9),(1,2);",
            1, "row without a readable time skipped"},
           {"negative duration",
            "CREATE TABLE OSRT_API (start,end); INSERT INTO OSRT_API VALUES (9,5);", 1,
            "negative duration read as 0"},
           {"range without an end",
            "CREATE TABLE NVTX_EVENTS (start,end,eventType,text);"
            "INSERT INTO NVTX_EVENTS VALUES (9,NULL,59,'x'),(10,40,59,'y');",
            2, "range without an end closed at the last time seen"},
           {"correlation beyond 32 bits",
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start,end,deviceId,streamId,correlationId);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,99999999999);",
            1, "correlation beyond 32 bits renumbered"},
       }) {
    CAPTURE(std::string(c.fault));
    const Database database(c.sql);
    Result<Trace> trace = import_with("nsys", database.path());
    REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().to_string()));
    CHECK(trace->size() == c.events);
    CHECK(trace->health.repairs.size() == (c.repair == nullptr ? 0 : 1));
    if (c.repair != nullptr) CHECK(trace->health.repairs.contains(c.repair));
  }
}

TEST_CASE("ids that a forked child uses again stay with their process") {
  const int64_t parent = (int64_t{100} << 24), child = (int64_t{200} << 24);
  std::string sql = kStrings;
  sql +=
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL "
      "(start,end,deviceId,streamId,correlationId,globalPid,demangledName);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start,end,globalTid,correlationId,nameId);";
  for (const auto& [process, start] : {std::pair{parent, 100}, {child, 300}})
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," +
           std::to_string(start + 5) + "," + std::to_string(process | 7) + ",42,1);" +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start + 9) + "," +
           std::to_string(start + 20) + ",0,7,42," + std::to_string(process) + ",2);";
  const Database database(sql);
  const Result<Trace> imported = import_with("nsys", database.path());
  REQUIRE_MESSAGE(imported.ok(), (imported.ok() ? "" : imported.error().to_string()));
  const Trace& trace = *imported;
  REQUIRE(trace.processes.size() == 2);
  std::map<int64_t, std::vector<Ns>> starts;  // by pid: of its calls and kernels
  for (EventId id = 0; id < trace.size(); ++id) {
    CHECK(trace.correlations()[id] == 42);
    const Track& track = trace.tracks[trace.tracks_of_events()[id]];
    starts[trace.processes[track.process].pid].push_back(trace.starts()[id]);
  }
  for (auto& [pid, times] : starts) std::ranges::sort(times);
  CHECK(starts == std::map<int64_t, std::vector<Ns>>{{100, {100, 109}}, {200, {300, 309}}});
}

TEST_CASE("a hostile schema is not run") {
  struct Case {
    const char* fault;
    const char* sql;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"a view in a table's place that never ends",
            "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS (SELECT 1 UNION "
            "ALL "
            "SELECT start + 1 FROM r) SELECT start, start AS end, 0 AS deviceId FROM r;"
            "CREATE TABLE OSRT_API (start,end); INSERT INTO OSRT_API VALUES (1,2);"},
           {"a trigger",
            "CREATE TABLE OSRT_API (start,end); INSERT INTO OSRT_API VALUES (1,2);"
            "CREATE TRIGGER t AFTER INSERT ON OSRT_API BEGIN DELETE FROM OSRT_API; END;"},
           {"a generated column",
            "CREATE TABLE OSRT_API (start, end, globalTid AS (length(hex(zeroblob(1000)))));"
            "INSERT INTO OSRT_API VALUES (1,2);"},
       }) {
    CAPTURE(std::string(c.fault));
    const Database database(c.sql);
    Result<Trace> trace = import_with("nsys", database.path());
    REQUIRE(trace.ok());
    CHECK(trace->size() == 1);
  }
}

TEST_CASE("files that are no export are refused by name") {
  const Database other("CREATE TABLE photos (id);");
  CHECK(import_with("nsys", other.path()).error().message.find("nsys export") != std::string::npos);
  std::string bytes("SQLite format 3\0", 16);
  bytes += std::string(2000, 'x');
  const TempFile damaged("damaged.sqlite", bytes);
  Result<Trace> trace = import_with("nsys", damaged.path());
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().file == damaged.path());
}

TEST_CASE("a truncated database keeps the rows it has, or is refused; it never crashes") {
  std::string sql = "CREATE TABLE OSRT_API (start,end,globalTid,nameId); BEGIN;";
  for (int i = 0; i < 3000; ++i)
    sql += "INSERT INTO OSRT_API VALUES (" + std::to_string(i) + "," + std::to_string(i + 1) +
           ",7,1);";
  const Database database(sql + "COMMIT;");
  std::ifstream in(database.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (const size_t size : {size_t{100}, size_t{4096}, bytes.size() / 2, bytes.size() - 10}) {
    const TempFile cut("cut.sqlite", std::string_view(bytes).substr(0, size));
    Result<Trace> trace = import_with("nsys", cut.path());
    if (!trace.ok()) continue;
    const bool stated = trace->health.cut_short || !trace->health.repairs.empty();
    CHECK((stated || trace->size() == 3000));
  }
}

TEST_CASE("reports before their export say how to export them") {
  const TempFile report("x.nsys-rep", "anything"), stream("x.qdstrm", "anything");
  ::setenv("PATH", "/nonexistent", 1);
  CHECK(
      import_with("nsys-report", report.path()).error().remedy.find("nsys export --type sqlite") !=
      std::string::npos);
  CHECK(import_with("nsys-report", stream.path()).error().remedy.find("QdstrmImporter") !=
        std::string::npos);
}

TEST_CASE("names split into stem and arguments") {
  struct Case {
    const char *text, *stem, *arguments;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"aten::mul, op_id = 7", "aten::mul", ", op_id = 7"},
           {"aten::mul, seq = 3, op_id = 7", "aten::mul", ", seq = 3, op_id = 7"},
           {"FSDP::pre_forward (encoder.block.14.layer.1), op_id = 1",
            "FSDP::pre_forward (encoder.block.14.layer.1)", ", op_id = 1"},
           {"load a, b and c", "load a, b and c", ""},
           {"f(a, b), n = 1", "f(a, b)", ", n = 1"},
           {"", "", ""},
       }) {
    const auto [stem, arguments] = split_arguments(c.text);
    CHECK(stem == std::string_view(c.stem));
    CHECK(arguments == std::string_view(c.arguments));
  }
}

TEST_CASE("the shared export: every row arrives, times to the nanosecond") {
  const std::string folder = shared_traces();
  if (folder.empty()) return;
  const std::string path = folder + "/nsys_2gpu_h100.sqlite";
  Result<Trace> trace = import_with("nsys", path);
  REQUIRE(trace.ok());
  CHECK(trace->health.repairs.empty());
  std::map<EventKind, std::pair<int64_t, int64_t>> seen;  // count, sum of durations
  for (EventId id = 0; id < trace->size(); ++id) {
    auto& [count, sum] = seen[trace->kinds()[id]];
    ++count;
    sum += trace->durations()[id];
  }
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  for (const auto& [kind, table] : std::initializer_list<std::pair<EventKind, const char*>>{
           {EventKind::kernel, "CUPTI_ACTIVITY_KIND_KERNEL"},
           {EventKind::memcpy, "CUPTI_ACTIVITY_KIND_MEMCPY"},
           {EventKind::memset, "CUPTI_ACTIVITY_KIND_MEMSET"},
           {EventKind::api, "CUPTI_ACTIVITY_KIND_RUNTIME"},
           {EventKind::overhead, "CUPTI_ACTIVITY_KIND_OVERHEAD"},
           {EventKind::range, "NVTX_EVENTS"}}) {
    CAPTURE(table);
    sqlite3_stmt* statement = nullptr;
    const std::string sql = std::string("SELECT count(*), sum(end - start) FROM ") + table;
    REQUIRE(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
    CHECK(seen[kind].first == sqlite3_column_int64(statement, 0));
    CHECK(seen[kind].second == sqlite3_column_int64(statement, 1));
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  CHECK(seen[EventKind::sync].first + seen[EventKind::stream_wait].first == 244);
  CHECK(trace->processes.size() >= 2);
}
