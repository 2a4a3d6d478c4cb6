// Real traces, where they are at hand: totals to the nanosecond, classes
// against the oracle, steps with and without their markers.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "analyze/analyze.h"
#include "compare_oracle.h"
#include "import/importer.h"

using namespace stallscope;

namespace {

std::optional<std::string> trace_path(const char* name) {
  const std::filesystem::path path =
      std::filesystem::path(STALLSCOPE_SOURCE_DIR) / ".." / "shared" / "data" / "traces" / name;
  if (std::filesystem::exists(path)) return path.string();
  MESSAGE("skipped: ", path.string(), " is not here");
  return std::nullopt;
}

Trace load(const std::string& path) {
  auto trace = import_trace(path);
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  return std::move(*trace);
}

struct Expected {
  const char* file;
  uint64_t kernels, collectives;
  double window_us, busy_us, compute_us, communication_us, exposed_us;
};

// From the table beside the traces, computed there from exact decimals.
const Expected kExpected[] = {
    {"alexnet.json.gz", 79, 0, 12920244, 66141, 10630, 0, 0},
    {"ddp_3steps_rank0.json.gz", 2700, 21, 660551.005, 157500.014, 115655.847, 46876.493,
     39559.468},
    {"dlrm128_rank0.json.gz", 1154, 10, 1222847, 547656, 210320, 396199, 336983},
    {"dlrm128_rank1.json.gz", 1104, 10, 1231186, 580050, 271973, 379053, 303523},
    {"event_sync.json.gz", 4, 0, 263, 51, 49, 0, 0},
    {"event_sync_multi_stream.json.gz", 3, 0, 19506, 372, 369, 0, 0},
    {"timesformer_h100.json.gz", 446, 0, 159992.427, 158433.174, 154855.595, 0, 0},
};

Ns ns(double us) {
  return static_cast<Ns>(std::llround(us * 1000));
}

}  // namespace

TEST_CASE("totals of real traces equal independent values to the nanosecond") {
  for (const Expected& expected : kExpected) {
    CAPTURE(std::string(expected.file));
    const auto path = trace_path(expected.file);
    if (!path) continue;
    const auto summaries = analyze_trace(load(*path));
    REQUIRE(summaries.size() == 1);
    const GpuTotals& gpu = summaries[0].gpu;
    CHECK(gpu.kernels == expected.kernels);
    CHECK(gpu.collective_kernels == expected.collectives);
    CHECK(gpu.window == ns(expected.window_us));
    CHECK(gpu.busy == ns(expected.busy_us));
    CHECK(gpu.compute == ns(expected.compute_us));
    CHECK(gpu.communication == ns(expected.communication_us));
    CHECK(gpu.exposed_communication == ns(expected.exposed_us));
  }
}

TEST_CASE("real traces agree with the oracle, per step and class") {
  for (const char* file :
       {"alexnet.json.gz", "ddp_3steps_rank0.json.gz", "dlrm128_rank0.json.gz",
        "dlrm128_rank1.json.gz", "event_sync.json.gz", "event_sync_multi_stream.json.gz",
        "timesformer_h100.json.gz", "nsys_2gpu_h100.sqlite"}) {
    CAPTURE(std::string(file));
    const auto path = trace_path(file);
    if (!path) continue;
    const auto trace = import_trace(*path);
    if (!trace.ok() && std::string(file).ends_with(".sqlite")) {
      MESSAGE("skipped: ", trace.error().to_string());
      continue;
    }
    REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
    const auto summaries = analyze_trace(*trace);
    REQUIRE_FALSE(summaries.empty());
    compare_with_oracle(*trace, summaries);
  }
}

TEST_CASE("steps of real traces without their markers equal the marked ones or are not given") {
  for (const Expected& expected : kExpected) {
    CAPTURE(std::string(expected.file));
    const auto path = trace_path(expected.file);
    if (!path) continue;
    const Trace trace = load(*path);
    const auto marked = analyze_trace(trace);
    AnalyzeOptions options;
    options.ignore_markers = true;
    const auto found = analyze_trace(trace, options);
    if (found[0].steps.empty()) {
      CHECK_FALSE(found[0].abstentions.empty());
      continue;
    }
    const auto difference =
        static_cast<double>(found[0].steps.size()) - static_cast<double>(marked[0].steps.size());
    CHECK(std::fabs(difference) <= 1);
    if (marked[0].step_median > 0 && found[0].step_median > 0)
      CHECK(std::fabs(static_cast<double>(found[0].step_median - marked[0].step_median)) <=
            0.01 * static_cast<double>(marked[0].step_median));
  }
}

TEST_CASE("a trace of the host alone gives no verdict") {
  const auto path = trace_path("cpu_only.json.gz");
  if (!path) return;
  for (const RankSummary& summary : analyze_trace(load(*path)))
    CHECK_FALSE(summary.abstentions.empty());
}
