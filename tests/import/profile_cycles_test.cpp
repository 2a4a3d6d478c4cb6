#include <doctest/doctest.h>

#include "import/profile_cycles.h"
#include "import_support.h"

using namespace stallscope;
using stallscope::test::TempFile;

namespace {

using Paths = std::vector<std::string>;

// A step of a process with one kernel, `at` microseconds after the base.
std::string cycle(int64_t pid, int number, int64_t at) {
  const auto text = [](int64_t value) { return std::to_string(value); };
  return R"J({"schemaVersion":1,"distributedInfo":{"rank":3,"world_size":8},"traceEvents":[
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#)J" +
         text(number) + R"J(","pid":)J" + text(pid) + R"J(,"tid":1,"ts":)J" + text(at) +
         R"J(,"dur":100},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":)J" +
         text(pid) + R"J(,"tid":1,"ts":)J" + text(at + 5) + R"J(,"dur":2,"args":{"correlation":4}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)J" +
         text(at + 20) + R"J(,"dur":30,"args":{"correlation":4,"device":0,"stream":7}}]})J";
}

Result<std::vector<Trace>> read_both(const std::string& first, const std::string& second) {
  const TempFile one("h_1.100.pt.trace.json", first), other("h_1.200.pt.trace.json", second);
  const Paths paths = {other.path(), one.path()};
  return import_cycles(paths, {});
}

}  // namespace

TEST_CASE("files of a profiler's cycles are told by their names") {
  const Paths paths = {"t/h_1.100.pt.trace.json.gz",
                       "t/h_2.101.pt.trace.json.gz",
                       "t/h_1.300.pt.trace.json.gz",
                       "u/h_1.400.pt.trace.json.gz",
                       "t/rank0.pt.trace.json.gz",
                       "t/rank1.pt.trace.json.gz",
                       "t/rank-0.Apr_03.1102.pt.trace.json.gz",
                       "t/rank-1.Apr_03.1102.pt.trace.json.gz",
                       "t/1.pt.trace.json",
                       "t/2.pt.trace.json",
                       "t/a.1.json",
                       "t/a.2.json"};
  const auto groups = cycles_together(paths);
  REQUIRE(groups.size() == paths.size() - 1);
  CHECK(groups[0] == Paths{paths[0], paths[2]});
  for (size_t i = 1; i < groups.size(); ++i) CHECK(groups[i].size() == 1);
}

TEST_CASE("cycles of one process are one trace with a hole between them") {
  const auto traces = read_both(cycle(41, 5, 1000), cycle(41, 16, 5000));
  REQUIRE(traces);
  REQUIRE(traces->size() == 1);
  const Trace& trace = traces->front();
  CHECK(trace.size() == 6);
  CHECK(trace.processes.size() == 1);
  CHECK(trace.processes[0].rank == 3);
  CHECK(trace.tracks.size() == 2);
  REQUIRE(trace.health.holes.size() == 1);
  CHECK(trace.health.holes[0].start == 1'100'000);
  CHECK(trace.health.holes[0].duration == 3'900'000);
  CHECK(trace.health.warnings.empty());
}

TEST_CASE("files that are named as cycles and are of several processes or runs stay apart") {
  for (const std::string& second : {cycle(42, 16, 5000), cycle(41, 5, 5000), cycle(41, 16, 1050)}) {
    const auto traces = read_both(cycle(41, 5, 1000), second);
    REQUIRE(traces);
    REQUIRE(traces->size() == 2);
    CHECK(traces->front().size() == 3);
    REQUIRE(traces->front().health.warnings.size() == 1);
    CHECK(traces->front().health.warnings[0].find("ranks side by side") != std::string::npos);
  }
}
