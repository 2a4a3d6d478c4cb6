// Real traces against values that an independent program computed from exact decimals.
#include "import/import_support.h"

using namespace stallscope;
using namespace stallscope::test;

TEST_CASE("device time of the shared traces equals the oracle to the nanosecond") {
  const std::string folder = shared_traces();
  if (folder.empty()) return;
  struct Case {
    const char* file;
    uint64_t kernels, collectives;
    Ns window, busy, compute, communication, exposed;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"alexnet", 79, 0, 12920244000, 66141000, 10630000, 0, 0},
           {"ddp_3steps_rank0", 2700, 21, 660551005, 157500014, 115655847, 46876493, 39559468},
           {"dlrm128_rank0", 1154, 10, 1222847000, 547656000, 210320000, 396199000, 336983000},
           {"dlrm128_rank1", 1104, 10, 1231186000, 580050000, 271973000, 379053000, 303523000},
           {"event_sync", 4, 0, 263000, 51000, 49000, 0, 0},
           {"event_sync_multi_stream", 3, 0, 19506000, 372000, 369000, 0, 0},
           {"timesformer_h100", 446, 0, 159992427, 158433174, 154855595, 0, 0},
       }) {
    CAPTURE(c.file);
    Result<Trace> trace = import_with("kineto", folder + "/" + c.file + ".json.gz");
    REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().to_string()));
    const DeviceTime time = device_time(*trace);
    CHECK(time.kernels == c.kernels);
    CHECK(time.collectives == c.collectives);
    CHECK(time.window == c.window);
    CHECK(time.busy == c.busy);
    CHECK(time.compute == c.compute);
    CHECK(time.communication == c.communication);
    CHECK(time.exposed_communication == c.exposed);
    for (const auto& [what, count] : trace->health.repairs) {
      MESSAGE(what << ": " << count);
      CHECK(count == 0);
    }
    CHECK_FALSE(trace->health.cut_short);
  }
}
