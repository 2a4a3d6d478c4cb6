// Whose a profile is that a program saved of itself.
#include "record/profile_owner.h"

#include <doctest/doctest.h>

using namespace stallscope;

TEST_CASE("a profile belongs to the process that its name or its content tells") {
  const std::map<int64_t, int32_t> recorded = {{4000, 0}, {4001, 1}, {4002, 1}, {4100, -1}};
  struct Case {
    const char* name;
    const char* text;
    int64_t process;
  };
  const Case cases[] = {
      // tensorboard_trace_handler: HOST_PID.TIME.pt.trace.json
      {"node7_4001.1763760000123.pt.trace.json", "", 4001},
      {"node7_4002.1763760000123.pt.trace.json.gz", "", 4002},
      {"4100.pt.trace.json", "", 4100},
      // A rank that the file states: its first process.
      {"a.pt.trace.json", R"({"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}})",
       4001},
      {"a.pt.trace.json", R"({"distributedInfo":{"rank":7}, "traceEvents":[{"pid": 4000}]})", 4000},
      {"a.pt.trace.json", R"({"traceEvents":[{"pid": 1}, {"pid":"Spans"}, {"pid": 4002}]})", 4002},
      {"trace_rank1.pt.trace.json.gz", "", 4001},
      {"rank-0.pt.trace.json", "", 4000},
      // Nothing that tells, and what only looks like it.
      {"a.pt.trace.json", R"({"traceEvents":[{"pid": 99}]})", 0},
      {"rank9.pt.trace.json", "", 0},
      {"rank.pt.trace.json", "", 0},
      {"", "", 0},
      {"99999999999999999999999.pt.trace.json", R"("distributedInfo")", 0},
      {"a", R"("distributedInfo": {"rank")", 0},
      {"a", R"("pid")", 0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    CAPTURE(each.text);
    CHECK(owner_of_profile(each.name, each.text, recorded) == each.process);
  }
  CHECK(owner_of_profile("node7_4001.1.pt.trace.json", "", {}) == 0);
  CHECK(recorded_processes("/nonexistent").empty());
}
