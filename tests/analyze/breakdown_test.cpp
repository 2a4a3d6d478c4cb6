#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "analyze/analyze.h"
#include "compare_oracle.h"
#include "random_trace.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

Trace read(const std::string& text) {
  auto trace = read_event_lines(text, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  return std::move(*trace);
}

// Ten steps of 1000 ns: a first kernel from 100 to 200, then `lines`, then a kernel launched last.
Trace ten_steps(const std::string& lines) {
  return read(R"({"repeat":10,"everyNs":1000}
{"name":"step {i}","startNs":0,"durationNs":900}
{"kind":"api","name":"cudaLaunchKernel","startNs":10,"durationNs":20,"correlation":1}
{"kind":"kernel","name":"gemm","startNs":100,"durationNs":100,"correlation":1}
)" + lines + "\n{\"end\":true}\n");
}

std::string launch(Ns start, Ns duration, Ns kernel_start, Ns kernel_duration,
                   const char* name = "gemm", int stream = 7, int correlation = 2) {
  return "{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startNs\":" + std::to_string(start) +
         ",\"durationNs\":" + std::to_string(duration) +
         ",\"correlation\":" + std::to_string(correlation) + "}\n{\"kind\":\"kernel\",\"name\":\"" +
         name + "\",\"stream\":" + std::to_string(stream) +
         ",\"startNs\":" + std::to_string(kernel_start) +
         ",\"durationNs\":" + std::to_string(kernel_duration) +
         ",\"correlation\":" + std::to_string(correlation) + "}\n";
}

}  // namespace

TEST_CASE("every instant of a step has the class of the definition") {
  struct Case {
    const char* what;
    std::string lines;
    std::vector<std::pair<StepClass, Ns>> classes;  // of the 1000 ns window from 100
  };
  // Between 900 and the next step's kernel at 1100 the device idles for 200 ns: its launch (20 ns)
  // comes after the drain and nothing else fills the thread, so that part is host-work.
  const auto rest = [](std::vector<std::pair<StepClass, Ns>> classes) {
    classes.emplace_back(StepClass::host_work, 200);
    return classes;
  };
  const std::vector<Case> cases = {
      {"issued before the gap: dependency", launch(150, 10, 300, 600),
       rest({{StepClass::compute, 700}, {StepClass::other, 100}})},
      {"a blocking call open at the drain: host-sync for the whole gap",
       R"({"kind":"api","name":"cudaStreamSynchronize","startNs":150,"durationNs":55})"
       "\n" +
           launch(300, 10, 400, 500),
       rest({{StepClass::compute, 600}, {StepClass::host_sync, 200}})},
      {"a blocking call that began after the drain does not count",
       R"({"kind":"api","name":"cudaStreamSynchronize","startNs":205,"durationNs":5})"
       "\n" +
           launch(300, 10, 400, 500),
       rest({{StepClass::compute, 600}, {StepClass::host_work, 200}})},
      {"API time of at least half: launch-bound", launch(210, 100, 400, 500),
       rest({{StepClass::compute, 600}, {StepClass::launch_bound, 200}})},
      {"API time just below half: host-work", launch(210, 99, 400, 500),
       rest({{StepClass::compute, 600}, {StepClass::host_work, 200}})},
      {"input wait takes its part, the rest is host-work",
       R"({"name":"next_batch","startNs":220,"durationNs":100})"
       "\n" +
           launch(330, 10, 400, 500),
       rest(
           {{StepClass::compute, 600}, {StepClass::input_wait, 100}, {StepClass::host_work, 100}})},
      {"overhead goes before input wait",
       R"({"name":"next_batch","startNs":220,"durationNs":100}
{"kind":"overhead","name":"buffer","startNs":300,"durationNs":40})"
       "\n" +
           launch(350, 10, 400, 500),
       rest({{StepClass::compute, 600},
             {StepClass::profiler_overhead, 40},
             {StepClass::input_wait, 80},
             {StepClass::host_work, 80}})},
      {"communication is exposed only where no kernel runs",
       launch(150, 10, 200, 400, "gemm", 7, 2) +
           launch(160, 10, 300, 600, "ncclDevKernel_AllReduce", 9, 3),
       rest({{StepClass::compute, 500}, {StepClass::exposed_communication, 300}})},
      {"copies are exposed only where nothing else runs",
       launch(150, 10, 200, 400, "gemm", 7, 2) +
           R"({"kind":"memcpy","name":"Memcpy HtoD","startNs":500,"durationNs":400,"stream":9})",
       rest({{StepClass::compute, 500}, {StepClass::exposed_copy, 300}})},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Trace trace = ten_steps(c.lines);
    const auto summaries = analyze_trace(trace);
    REQUIRE(summaries.size() == 1);
    REQUIRE(summaries[0].steps.size() == 10);
    CHECK(compare_with_oracle(trace, summaries) == 10);
    const Step& step = summaries[0].steps[4];
    CHECK(step.window_start == 4100);
    CHECK(step.window_end == 5100);
    ClassTimes expected;
    for (const auto& [step_class, ns] : c.classes) expected[step_class] += ns;
    for (size_t i = 0; i < kStepClasses; ++i) {
      CAPTURE(to_string(static_cast<StepClass>(i)));
      CHECK(step.classes.ns[i] == expected.ns[i]);
    }
  }
}

TEST_CASE("random traces agree with the oracle, per step and class") {
  size_t compared = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const Trace trace = random_trace(seed);
    compared += compare_with_oracle(trace, analyze_trace(trace));
  }
  CHECK(compared > 1000);
}

TEST_CASE("a work of several devices gives a rank each") {
  const Trace trace = read(R"({"repeat":5,"everyNs":1000}
{"name":"iteration","startNs":0,"durationNs":900}
{"kind":"api","name":"cudaLaunchKernel","startNs":10,"durationNs":20,"correlation":1}
{"kind":"kernel","startNs":100,"durationNs":100,"correlation":1,"device":0}
{"kind":"api","name":"cudaLaunchKernel","startNs":40,"durationNs":20,"correlation":2}
{"kind":"kernel","startNs":100,"durationNs":800,"correlation":2,"device":1}
{"end":true}
)");
  const auto summaries = analyze_trace(trace);
  REQUIRE(summaries.size() == 2);
  CHECK(summaries[0].gpu.busy == 500);
  CHECK(summaries[1].gpu.busy == 4000);
  CHECK(summaries[1].steps[2].classes[StepClass::compute] == 800);
}

TEST_CASE("a process without device work gets the host view") {
  const Trace trace = read(R"({"repeat":8,"everyNs":1000}
{"name":"train_step","startNs":0,"durationNs":900}
{"name":"get_batch","startNs":0,"durationNs":100}
{"kind":"thread-wait","name":"queue.get","startNs":50,"durationNs":100}
{"kind":"collective","name":"MPI_Allreduce","startNs":300,"durationNs":200,"bytes":8}
{"kind":"overhead","name":"flush","startNs":450,"durationNs":100}
{"end":true}
)");
  const auto summaries = analyze_trace(trace);
  REQUIRE(summaries.size() == 1);
  CHECK(summaries[0].view == RankView::host);
  const ClassTimes& classes = summaries[0].steps[3].classes;
  CHECK(classes[StepClass::input_wait] == 100);
  CHECK(classes[StepClass::host_sync] == 50);
  CHECK(classes[StepClass::exposed_communication] == 150);
  CHECK(classes[StepClass::profiler_overhead] == 100);
  CHECK(classes[StepClass::host_work] == 600);
  CHECK(classes.total() == 1000);
}

TEST_CASE("a timeline gives each instant the class that the breakdown gives it") {
  const auto summaries = analyze_trace(
      ten_steps(launch(120, 10, 250, 150, "ncclDevKernel_AllReduce_Sum") +
                R"({"kind":"api","name":"cudaStreamSynchronize","startNs":350,"durationNs":60})"
                "\n" +
                launch(420, 10, 500, 100, "gemm", 7, 3) + launch(700, 150, 900, 50, "gemm", 7, 4)));
  REQUIRE(summaries.size() == 1);
  const Timeline& timeline = summaries[0].representative;
  const Step& step = summaries[0].steps[timeline.step];
  const Ns window = timeline.duration - (step.window_end - step.window_start);
  ClassTimes drawn;
  for (size_t i = 0; i < timeline.classes.size(); ++i) {
    const auto [start, step_class] = timeline.classes[i];
    const Ns end =
        i + 1 < timeline.classes.size() ? timeline.classes[i + 1].first : timeline.duration;
    drawn[step_class] += end - std::clamp(start, std::min(window, end), end);
  }
  CHECK(drawn[StepClass::exposed_communication] == 150);
  CHECK(drawn.ns == step.classes.ns);
}
