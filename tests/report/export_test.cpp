#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/exporter.h"
#include "report/track_lanes.h"

using namespace stallscope;

namespace {

/// One process: a thread with nested and crossing ranges and a launch, a stream with its kernel.
Trace small_trace() {
  Trace trace;
  const uint32_t process =
      trace.add_process({.pid = 42, .rank = 3, .world_size = 4, .host = "h", .name = "train"});
  const TrackId thread = trace.track(process, TrackKind::thread, -1, 42);
  const TrackId stream = trace.track(process, TrackKind::stream, 1, 7);
  const auto add = [&](EventKind kind, const char* name, Ns start, Ns duration, TrackId track,
                       uint32_t correlation = 0) {
    Event event;
    event.kind = kind;
    event.name = trace.strings.intern(name);
    event.start = start;
    event.duration = duration;
    event.track = track;
    event.correlation = correlation;
    trace.add(event);
  };
  add(EventKind::range, "outer, \"quoted\"", 1'000, 10'000, thread);
  add(EventKind::range, "inner", 2'000, 3'000, thread);
  add(EventKind::range, "crossing", 9'000, 5'000, thread);
  add(EventKind::api, "cudaLaunchKernel", 2'500, 500, thread, 9);
  add(EventKind::kernel, "gemm", 4'000, 6'001, stream, 9);
  add(EventKind::marker, "mark", 12'000, 0, thread);
  trace.finish();
  return trace;
}

std::string exported(const char* format) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("stallscope-export-test-" + std::string(format)))
          .string();
  const Exporter* exporter = find_exporter(format);
  REQUIRE(exporter != nullptr);
  auto target = exporter->open(path);
  REQUIRE(target.ok());
  const Trace trace = small_trace();
  REQUIRE((*target)->add(trace).ok());
  REQUIRE((*target)->finish(nullptr).ok());
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

}  // namespace

TEST_CASE("slices of a lane nest; what crosses goes to a further one") {
  const Trace trace = small_trace();
  const auto marks = slice_marks(trace, 0);
  CHECK(marks.size() == 8);  // four slices, each begun and ended; the marker is none
  std::map<unsigned, std::vector<EventId>> open;
  Ns last = 0;
  unsigned lanes = 0;
  for (const SliceMark& mark : marks) {
    const Ns at = mark.begin ? trace.starts()[mark.event] : trace.end(mark.event);
    if (mark.lane == 0) CHECK(at >= last);
    if (mark.lane == 0) last = at;
    lanes = std::max(lanes, mark.lane + 1);
    if (mark.begin) {
      open[mark.lane].push_back(mark.event);
    } else {
      REQUIRE(open[mark.lane].back() == mark.event);
      open[mark.lane].pop_back();
    }
  }
  CHECK(lanes == 2);
  for (const auto& [lane, events] : open) CHECK(events.empty());
}

TEST_CASE("CSV quotes what needs it and leaves the unknown empty") {
  const std::string text = exported("csv");
  CHECK(text.starts_with("kind,detail,name,startNs,durationNs,"));
  CHECK(text.find("\"outer, \"\"quoted\"\"\",1000,10000,3,42,42,,,,") != std::string::npos);
  CHECK(text.find("kernel,,gemm,4000,6001,3,42,,1,7,9,") != std::string::npos);
}

TEST_CASE("Chrome JSON keeps nanoseconds exactly") {
  const std::string text = exported("chrome");
  CHECK(text.find("\"dur\":6.001") != std::string::npos);
  CHECK(text.find("\"distributedInfo\":{\"rank\":3,\"world_size\":4}") != std::string::npos);
}

TEST_CASE("every exporter's file registers it once") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STALLSCOPE_SOURCE_DIR) / "src/report"))
    files += entry.path().filename().string().starts_with("export_") ? 1 : 0;
  CHECK(exporters().size() == files);
}

TEST_CASE("a file that cannot be written is an error that names it") {
  for (const Exporter& exporter : exporters()) {
    const auto target = exporter.open("/nonexistent-folder/x");
    REQUIRE_FALSE(target.ok());
    CHECK(target.error().file == "/nonexistent-folder/x");
  }
}
