// What NVTX calls become in the trace.
#include <doctest/doctest.h>

#include "collect/collect_support.h"

using namespace stallscope;
using namespace stallscope::test;

namespace {

Recorded record(const std::vector<std::string>& mode, const Variables& variables = {}) {
  const TempFolder folder;
  std::vector<std::string> command = {nvtx_target()};
  command.insert(command.end(), mode.begin(), mode.end());
  const Finished finished = run_target(command, folder.path(), variables);
  CHECK(finished.exit_code == 0);
  CHECK(finished.output == "output of the program\n");
  return read_folder(folder.path());
}

std::string domain_of(const Trace& trace, EventId id) {
  return std::string(trace.text_field(id, kKeyDomain));
}

}  // namespace

TEST_CASE("every NVTX call gives its event, with domain, category and payload") {
  const Recorded recorded = record({"every-call"});
  const Trace& trace = recorded.trace;
  struct Case {
    EventKind kind;
    const char* name;
    const char* domain;
  };
  for (const Case& c : std::initializer_list<Case>{
           {EventKind::range, "ascii", ""},
           {EventKind::range, "wide \u2713 \U0001F600", ""},
           {EventKind::marker, "ascii mark", ""},
           {EventKind::marker, "wide mark", ""},
           {EventKind::range, "with category", "test domain"},
           {EventKind::marker, "with double", "test domain"},
           {EventKind::range, "registered, key = 1", "test domain"},
           {EventKind::range, "registered wide", "wide domain \u00e9"},
           {EventKind::range, "started first", ""},
           {EventKind::range, "started second", "test domain"},
       }) {
    CAPTURE(c.name);
    CHECK(domain_of(trace, only(trace, c.kind, c.name)) == c.domain);
  }
  CHECK(trace.size() == 10);
  const EventId categorised = only(trace, EventKind::range, "with category");
  CHECK(trace.text_field(categorised, kKeyCategory) == "loading");
  CHECK(trace.integer(categorised, kKeyValue) == -42);
  CHECK(trace.number(only(trace, EventKind::marker, "with double"), kKeyValue) == 0.25);
  CHECK(trace.name(only(trace, EventKind::range, "registered, key = 1")) == "registered");

  const EventId outer = only(trace, EventKind::range, "ascii");
  const EventId inner = only(trace, EventKind::range, "wide \u2713 \U0001F600");
  CHECK(trace.starts()[outer] <= trace.starts()[inner]);
  CHECK(trace.end(inner) <= trace.end(outer));
  REQUIRE(recorded.segments.size() == 1);
  CHECK(trace.text(trace.tracks[trace.event(outer).track].name) == "named thread");
  CHECK_FALSE(trace.health.cut_short);
  CHECK(trace.health.repairs.empty());
  CHECK(trace.health.lost_records == 0);
}

TEST_CASE("payloads are read by their registered schema") {
  const Recorded recorded = record({"payloads"});
  const Trace& trace = recorded.trace;
  const auto key = [&](const char* name) { return trace.strings.find(name); };
  for (const char* name : {"batched", "at the end"}) {
    CAPTURE(name);
    const EventId id = only(trace, EventKind::range, name);
    CHECK(trace.integer(id, key("small")) == 7);
    CHECK(trace.number(id, key("real")) == 2.5);
    CHECK(trace.text_field(id, key("pointed")) == "far away");
    CHECK(trace.text_field(id, key("inlined")) == "near");
    CHECK(trace.text_field(id, key("values")) == "[1, 2, 3]");
    CHECK(domain_of(trace, id) == "payloads");
  }
  CHECK(trace.integer(only(trace, EventKind::range, "batched"), kKeyValue) == -9);
  CHECK(trace.integer(only(trace, EventKind::marker, "named within"), key("count")) == -3);
  const std::vector<EventId> named = events_named(trace, EventKind::range, "named within");
  REQUIRE(named.size() == 2);
  for (const EventId id : named) CHECK(trace.integer(id, key("count")) == -3);
}

TEST_CASE("annotations become the field's events") {
  const Recorded recorded = record({"annotations"});
  const Trace& trace = recorded.trace;
  const auto on_stream = [&](EventId id, int32_t device, int64_t stream) {
    const Track& track = trace.tracks[trace.event(id).track];
    return track.kind == TrackKind::stream && track.device == device && track.id == stream;
  };
  const EventId launch = only(trace, EventKind::api, "cudaLaunchKernel");
  CHECK(trace.details()[launch] == static_cast<uint8_t>(ApiCall::launch));
  CHECK(trace.integer(launch, kKeyStream) == 7);
  CHECK(trace.integer(launch, kKeyDevice) == 1);
  CHECK_FALSE(trace.integer(launch, kKeyEvent).has_value());
  const EventId kernel = only(trace, EventKind::kernel, "gemm");
  CHECK(on_stream(kernel, 1, 7));
  CHECK(trace.event(kernel).correlation == trace.event(launch).correlation);
  CHECK(trace.integer(kernel, kKeyModelled) == 1);
  const EventId copy = only(trace, EventKind::memcpy, "copy");
  CHECK(on_stream(copy, 1, 8));
  CHECK(trace.details()[copy] == static_cast<uint8_t>(CopyKind::device_to_host));
  CHECK(trace.integer(copy, kKeyBytes) == 5000000000);
  CHECK(trace.text_field(copy, kKeyTargetMemory) == "pageable");
  CHECK(on_stream(only(trace, EventKind::memset, "set"), 1, 8));
  const EventId sync = only(trace, EventKind::sync, "sync");
  CHECK(trace.details()[sync] == static_cast<uint8_t>(SyncKind::stream));
  CHECK(on_stream(only(trace, EventKind::event_record, "event"), 1, 7));
  const EventId wait = only(trace, EventKind::stream_wait, "wait");
  CHECK(on_stream(wait, 1, 8));
  CHECK(trace.integer(wait, kKeyEventRecord) == 11);
  const EventId collective = only(trace, EventKind::collective, "ncclAllReduce");
  CHECK(trace.details()[collective] == static_cast<uint8_t>(CollectiveOp::all_reduce));
  CHECK(trace.tracks[trace.event(collective).track].kind == TrackKind::thread);
  CHECK(trace.text_field(collective, kKeyDataType) == "f32");
  CHECK(trace.integer(collective, kKeyGroup) == 99);
  CHECK(trace.integer(collective, kKeySequence) == 5);
  CHECK(trace.integer(collective, kKeyWorldSize) == 2);
  CHECK_FALSE(trace.integer(collective, kKeyPeer).has_value());
  CHECK_FALSE(trace.integer(collective, kKeyDevice).has_value());
  CHECK(trace.event(collective).stack != 0);
  const EventId alloc = only(trace, EventKind::alloc, "cudaMalloc");
  CHECK(trace.integer(alloc, kKeyTotalBytes) == 512);
  CHECK(trace.integer(only(trace, EventKind::thread_wait, "queue"), kKeyWakerTid) == 77);
  CHECK(trace.number(only(trace, EventKind::counter, "loss"), kKeyValue) == 1.5);
  const EventId blocking = only(trace, EventKind::api, "cudaMemcpy");
  CHECK(trace.details()[blocking] == static_cast<uint8_t>(ApiCall::copy_blocking));
  CHECK(trace.integer(blocking, kKeyBytes) == 16);
  CHECK(trace.size() == 12);
}

TEST_CASE("a blocking call's stack tells two lines of one function apart") {
  const Recorded recorded = record({"stacks"});
  const Trace& trace = recorded.trace;
  const auto calls = events_named(trace, EventKind::api, "cudaDeviceSynchronize");
  REQUIRE(calls.size() == 2);
  CHECK(trace.event(calls[0]).stack != 0);
  CHECK(trace.event(calls[0]).stack != trace.event(calls[1]).stack);
  // blocked, main and the C library's start: more than the recorder's own frames.
  CHECK(trace.stack(trace.event(calls[0]).stack).size() >= 3);
  const Frame& innermost = trace.frame(trace.stack(trace.event(calls[0]).stack)[0]);
  CHECK(trace.text(innermost.module).ends_with("nvtx_target"));
}

TEST_CASE("unique names cost a tail, not a string each") {
  const Recorded recorded = record({"unique", "100000"});
  const Trace& trace = recorded.trace;
  CHECK(trace.size() == 100000);
  CHECK(count_named(trace, "aten::mul, op_id = 99999") == 1);
  CHECK(trace.name(0) == "aten::mul");
  CHECK(recorded.chunk_bytes > 100000 * 32);
  CHECK(recorded.chunk_bytes < 100000 * 55);
}

TEST_CASE("a captured range bounds what is recorded") {
  const Recorded recorded = record({"capture"}, {{"STALLSCOPE_CAPTURE_RANGE", "window"}});
  CHECK(count_named(recorded.trace, "work") == 3);
  CHECK(count_named(recorded.trace, "window") == 1);
}

TEST_CASE("a delay beyond the program's life records nothing") {
  const Recorded recorded = record({"ranges", "100"}, {{"STALLSCOPE_DELAY_MS", "60000"}});
  CHECK(recorded.trace.size() == 0);
}

TEST_CASE("either clock places events between the program's start and end") {
  for (const char* clock : {"", "monotonic"}) {
    CAPTURE(clock);
    timespec before{}, after{};
    clock_gettime(CLOCK_MONOTONIC, &before);
    const Recorded recorded = record({"ranges", "1000"}, {{"STALLSCOPE_CLOCK", clock}});
    clock_gettime(CLOCK_MONOTONIC, &after);
    const Trace& trace = recorded.trace;
    REQUIRE(trace.size() == 1000);
    CHECK(trace.starts()[0] >= before.tv_sec * 1'000'000'000 + before.tv_nsec);
    CHECK(trace.end(999) <= after.tv_sec * 1'000'000'000 + after.tv_nsec);
    if (*clock != '\0') CHECK(trace.health.clock_source == "monotonic");
    CHECK(trace.health.clock_residual_ns >= 0);
    CHECK(trace.health.recorder_own_ns > 0);
  }
}

TEST_CASE("launchers' variables give the rank") {
  struct Case {
    Variables variables;
    int rank, local_rank, world;
  };
  const Case cases[] = {
      {{{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "4"}}, 3, 1, 4},
      {{{"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
        {"OMPI_COMM_WORLD_SIZE", "2"}},
       1,
       0,
       2},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}}, 0, -1, 8},
      {{{"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS", "6"}}, 5, 1, 6},
      {{{"RANK", "7"}}, -1, -1, 0},  // a rank without a world is somebody else's variable
      {{}, -1, -1, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.rank);
    const Recorded recorded = record({"ranges", "1"}, c.variables);
    REQUIRE(recorded.trace.processes.size() == 1);
    CHECK(recorded.trace.processes[0].rank == c.rank);
    CHECK(recorded.trace.processes[0].local_rank == c.local_rank);
    CHECK(recorded.trace.processes[0].world_size == c.world);
  }
}
