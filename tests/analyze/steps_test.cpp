#include <doctest/doctest.h>

#include <cmath>

#include "analyze/analyze.h"
#include "analyze/range_names.h"
#include "analyze/statistics.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

Trace read(const std::string& text) {
  auto trace = read_event_lines(text, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  return std::move(*trace);
}

// Appends a launch and its kernel; the kernel follows the launch at once.
void launch(std::string& text, const char* kernel, Ns at, int correlation) {
  text += "{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startNs\":" + std::to_string(at) +
          ",\"durationNs\":3000,\"correlation\":" + std::to_string(correlation) + "}\n";
  text += std::string("{\"kind\":\"kernel\",\"name\":\"") + kernel +
          "\",\"startNs\":" + std::to_string(at + 5000) +
          ",\"durationNs\":8000,\"correlation\":" + std::to_string(correlation) + "}\n";
}

// A training loop: `layers` forward, backward, an optimiser; every tenth step logs a value; the
// step's length varies by a few per cent.
std::string training(int steps, int layers, bool logs) {
  std::string text;
  Ns now = 0;
  int correlation = 1;
  for (int step = 0; step < steps; ++step) {
    text += "{\"name\":\"ProfilerStep#" + std::to_string(step) +
            "\",\"startNs\":" + std::to_string(now) +
            ",\"durationNs\":" + std::to_string(layers * 60'000 + 20'000) + "}\n";
    const Ns begin = now;
    const auto add = [&](const char* kernel) {
      launch(text, kernel, now += 10'000, correlation++);
    };
    add("embedding");
    for (int layer = 0; layer < layers; ++layer) {
      add("gemm");
      add("softmax");
    }
    add("loss");
    for (int layer = 0; layer < layers; ++layer) {
      add("softmax_backward");
      add("gemm");
      add("gemm_transposed");
    }
    for (int i = 0; i < 4; ++i) add("adam");
    if (logs && step % 10 == 9) add("copy_loss");
    now = begin + layers * 60'000 + 120'000 + (step * 7919 % 13) * 1'000;
  }
  return text;
}

}  // namespace

TEST_CASE("markers of steps in all their spellings") {
  for (const char* name :
       {"step", "Step 12", "step_3", "step=4", "ProfilerStep#7", "iteration", "Iteration: 5",
        "train_step", "train-step 9", "## step ##", "TRAIN_STEP", "iter 3", "training_step"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(step_marker(name).empty());
  }
  for (const char* name : {"Optimizer.step#SGD.step", "step_optimizer", "forward", "", "steps",
                           "lr_scheduler.step", "timestep_embedding"}) {
    CAPTURE(std::string(name));
    CHECK(step_marker(name).empty());
  }
}

TEST_CASE("a given range wins over markers, with or without a number") {
  const std::string text = R"({"repeat":6,"everyNs":1000}
{"name":"step {i}","startNs":0,"durationNs":900}
{"name":"my phase {i}","startNs":100,"durationNs":500}
{"kind":"api","name":"cudaLaunchKernel","startNs":110,"durationNs":20,"correlation":1}
{"kind":"kernel","startNs":200,"durationNs":100,"correlation":1}
{"end":true}
)";
  AnalyzeOptions options;
  options.step_range = "my phase";
  const auto given = analyze_trace(read(text), options);
  CHECK(given[0].step_source == StepSource::given_range);
  REQUIRE(given[0].steps.size() == 6);
  CHECK(given[0].steps[1].host_start == 1100);
  CHECK(analyze_trace(read(text))[0].steps[1].host_start == 1000);
  options.step_range = "nothing";
  const auto missing = analyze_trace(read(text), options);
  CHECK(missing[0].steps.empty());
  CHECK_FALSE(missing[0].abstentions.empty());
}

TEST_CASE("steps are found by period as by markers") {
  struct Case {
    int steps, layers;
    bool logs;
  };
  for (const Case& c : std::initializer_list<Case>{
           {20, 12, false}, {40, 4, false}, {30, 24, true}, {12, 1, false}, {60, 48, false}}) {
    CAPTURE(c.steps);
    CAPTURE(c.layers);
    const Trace trace = read(training(c.steps, c.layers, c.logs));
    const auto marked = analyze_trace(trace);
    AnalyzeOptions options;
    options.ignore_markers = true;
    const auto found = analyze_trace(trace, options);
    CHECK(found[0].step_source == StepSource::launch_period);
    CHECK(std::abs(static_cast<int>(found[0].steps.size()) - c.steps) <= 1);
    CHECK(std::fabs(static_cast<double>(found[0].step_median - marked[0].step_median)) <=
          0.01 * static_cast<double>(marked[0].step_median));
  }
}

TEST_CASE("steps of a host that launches in bursts, as far ahead as the queue lets it") {
  // The host issues ten kernels at once, which end within a step, and waits for room; the device
  // goes on evenly. What it does before the steps is no part of them.
  constexpr int kBurstSteps = 48, kBurst = 10, kKernels = 6;
  constexpr Ns kStep = 600'000, kKernel = kStep / kKernels;
  const char* const kernels[kKernels] = {"embed", "gemm", "softmax", "gemm", "loss", "adam"};
  std::string text;
  int correlation = 1;
  const auto add = [&](const char* kernel, Ns launched, Ns runs) {
    const std::string id = std::to_string(correlation++);
    text +=
        "{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startNs\":" + std::to_string(launched) +
        ",\"durationNs\":900,\"correlation\":" + id + "}\n";
    text += std::string("{\"kind\":\"kernel\",\"name\":\"") + kernel +
            "\",\"startNs\":" + std::to_string(runs) +
            ",\"durationNs\":" + std::to_string(kKernel - 1'000) + ",\"correlation\":" + id + "}\n";
  };
  for (int i = 0; i < 20; ++i) add("fill", i * 2'000, 100'000 + i * kKernel);
  const Ns begin = 100'000 + 20 * kKernel;
  for (int step = 0; step < kBurstSteps; ++step)
    for (int i = 0; i < kKernels; ++i) {
      const int k = step * kKernels + i;
      add(kernels[i], begin - 40'000 + k / kBurst * kBurst * kKernel + k % kBurst * 1'000,
          begin + 10'000 + k * kKernel);
    }
  const auto found = analyze_trace(read(text));
  REQUIRE(found.size() == 1);
  CHECK(found[0].step_source == StepSource::launch_period);
  CHECK(std::abs(static_cast<int>(found[0].steps.size()) - kBurstSteps) <= 1);
}

TEST_CASE("without markers, calls made once per step show the steps, the surest first") {
  struct Case {
    std::vector<std::string> calls;
    std::string marker;
  };
  for (const Case& c :
       {Case{{"backward"}, "backward"},
        {{"backward", "optimizer.step"}, "optimizer.step"},
        {{"backward", "backward", "Optimizer.step#SGD.step"}, "Optimizer.step#SGD.step"},
        {{"Optimizer.step#SGD.step", "jit update"}, "jit update"},
        {{"load_data"}, ""}}) {
    CAPTURE(c.marker);
    std::string text = "{\"repeat\":6,\"everyNs\":1000}\n";
    for (size_t i = 0; i < c.calls.size(); ++i)
      text += "{\"name\":\"" + c.calls[i] + "\",\"startNs\":" + std::to_string(i * 300) +
              ",\"durationNs\":200}\n";
    const auto ranks = analyze_trace(read(text + "{\"end\":true}\n"));
    CHECK(ranks[0].step_marker == c.marker);
    CHECK(ranks[0].steps.size() == (c.marker.empty() ? 0 : 6));
  }
}

TEST_CASE("one step gives no period, however many layers it has") {
  AnalyzeOptions options;
  options.ignore_markers = true;
  for (int layers : {6, 12, 48}) {
    const auto found = analyze_trace(read(training(1, layers, false)), options);
    CHECK(found[0].steps.empty());
    CHECK_FALSE(found[0].abstentions.empty());
  }
}

TEST_CASE("without steps the ranges that may be them are named") {
  const auto reason = [](const std::string& text) {
    const auto ranks = analyze_trace(read(text), {});
    REQUIRE(ranks.size() == 1);
    REQUIRE_FALSE(ranks[0].abstentions.empty());
    return ranks[0].abstentions.front();
  };
  std::string text;
  for (int i = 0; i < 5; ++i)
    for (const char* name : {"forward", i < 2 ? "setup" : "solve"})
      text += std::string("{\"name\":\"") + name + "\",\"startNs\":" + std::to_string(i * 1000) +
              ",\"durationNs\":400}\n";
  CHECK(reason(text).find("--step-range; there are forward (5 times), solve (3 times).") !=
        std::string::npos);
  CHECK(reason("{\"name\":\"setup\",\"startNs\":0,\"durationNs\":400}\n")
            .find("put one named step around what repeats") != std::string::npos);
}

TEST_CASE("steps that overlap by what profilers round are no overlap") {
  const auto overlapping_by = [](Ns overlap) {
    const std::string text = R"({"repeat":8,"everyNs":1000000}
{"name":"ProfilerStep#{i}","startNs":0,"durationNs":)" +
                             std::to_string(1'000'000 + overlap) + R"(}
{"kind":"api","name":"cudaLaunchKernel","startNs":10000,"durationNs":5000,"correlation":1}
{"kind":"kernel","name":"k","startNs":20000,"durationNs":500000,"correlation":1}
{"end":true}
)";
    return analyze_trace(read(text))[0].abstentions;
  };
  CHECK(overlapping_by(1).empty());
  CHECK(overlapping_by(1'500).empty());
  CHECK_FALSE(overlapping_by(20'000).empty());
}

TEST_CASE("the first step behind a hole of the capture is as little used as the first of all") {
  const auto uses = [](const std::string& hole) {
    const std::string text = R"({"repeat":8,"everyNs":1000}
{"name":"step {i}","startNs":0,"durationNs":900}
{"kind":"api","name":"cudaLaunchKernel","startNs":110,"durationNs":20,"correlation":1}
{"kind":"kernel","startNs":200,"durationNs":100,"correlation":1}
{"end":true}
)" + hole;
    const std::vector<RankSummary> ranks = analyze_trace(read(text));
    std::vector<StepUse> found;
    for (const Step& step : ranks[0].steps) found.push_back(step.use);
    return found;
  };
  using enum StepUse;
  CHECK(uses("") == std::vector{first, used, used, used, used, used, used, last});
  CHECK(uses(R"({"kind":"hole","startNs":2950,"durationNs":10,"reason":"cycles"})") ==
        std::vector{first, used, hole, first, used, used, used, last});
}

TEST_CASE("warm-up is found by change-point, a lone slow step is not") {
  struct Case {
    std::vector<Ns> values;
    size_t warm_up;
  };
  const std::vector<Case> cases = {
      {{100, 100, 101, 99, 100, 100}, 0},
      {{300, 280, 100, 101, 99, 100, 100, 102}, 2},
      {{900, 500, 300, 100, 101, 99, 100, 100, 102, 100}, 3},
      {{100, 101, 99, 400, 100, 100, 102, 100}, 0},
      {{100, 101, 99, 100, 150, 150, 151, 150}, 0},
      {{100, 200, 100}, 0},
      {{122, 166, 82, 107}, 0},
      {{160, 100, 101, 99}, 1},
      {{}, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.values.size());
    CHECK(warm_up_length(c.values) == c.warm_up);
  }
}

TEST_CASE("the bootstrap interval holds the median and is the same every time") {
  std::vector<Ns> values;
  for (int i = 0; i < 101; ++i) values.push_back(1000 + i * 37 % 101);
  const MedianInterval first = bootstrap_median(values), second = bootstrap_median(values);
  CHECK(first.median == 1050);
  CHECK(first.low < first.median);
  CHECK(first.high > first.median);
  CHECK(first.low == second.low);
  CHECK(first.high == second.high);
  CHECK(bootstrap_median({7}).low == 7);
}

TEST_CASE("what cannot carry a verdict says so") {
  struct Case {
    const char* what;
    std::string text;
    const char* reason;
    const char* unsaid = "nothing leaves this out";
  };
  const std::string step = R"({"name":"step {i}","startNs":0,"durationNs":900}
{"kind":"api","name":"cudaLaunchKernel","startNs":110,"durationNs":20,"correlation":1}
)";
  const std::string kernel = R"({"kind":"kernel","startNs":200,"durationNs":100,"correlation":1})"
                             "\n";
  const auto repeat = [](int n, const std::string& lines) {
    return "{\"repeat\":" + std::to_string(n) + ",\"everyNs\":1000}\n" + lines + "{\"end\":true}\n";
  };
  const std::vector<Case> cases = {
      {"fine", repeat(8, step + kernel), ""},
      {"calls without device work", repeat(8, step), "no GPU activity"},
      {"one step left", repeat(3, step + kernel), "can be used"},
      {"most steps run nothing",
       repeat(
           8,
           step +
               R"({"kind":"kernel","startNs":200,"durationNs":100,"correlation":1,"onlyIn":[0,7]})"
               "\n"),
       "ran nothing"},
      {"lost records", repeat(8, step + kernel) + "{\"kind\":\"health\",\"lostRecords\":50}\n",
       "lost"},
      {"holes",
       repeat(8, step + kernel) + "{\"kind\":\"hole\",\"startNs\":0,\"durationNs\":9000,\"reason\":"
                                  "\"another profiler\"}\n",
       "another profiler"},
      {"idle before work that was issued long ago",
       repeat(
           8,
           step + kernel +
               R"({"kind":"api","name":"cudaGraphLaunch","startNs":150,"durationNs":20,"correlation":2}
{"kind":"kernel","startNs":900,"durationNs":100,"correlation":2})"
               "\n"),
       "had been issued"},
      {"overlapping steps",
       repeat(8, step + kernel +
                     R"({"name":"step","startNs":500,"durationNs":800})"
                     "\n"),
       "overlap"},
      {"launches missing",
       repeat(8, step + kernel +
                     R"({"kind":"kernel","startNs":400,"durationNs":50})"
                     "\n"
                     R"({"kind":"kernel","startNs":500,"durationNs":50})"
                     "\n"),
       "no launching call"},
      {"none of the launches is there",
       repeat(8,
              R"({"name":"step","startNs":0,"durationNs":900}
{"kind":"kernel","startNs":400,"durationNs":50})"
              "\n"),
       "no launching call", "steps"},
      {"a step that the profiler's end cut off",
       repeat(
           2,
           step +
               R"({"kind":"kernel","startNs":200,"durationNs":100,"correlation":1,"onlyIn":[0,0]})"
               "\n"),
       "can be used", "ran nothing"},
      {"the profiler fills the gaps",
       repeat(8, step + kernel +
                     R"({"kind":"overhead","startNs":400,"durationNs":600})"
                     "\n"),
       "profiler itself"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    const auto summaries = analyze_trace(read(c.text));
    REQUIRE(summaries.size() == 1);
    std::string reasons;
    for (const std::string& reason : summaries[0].abstentions) reasons += reason + "\n";
    CAPTURE(reasons);
    if (*c.reason == '\0')
      CHECK(reasons.empty());
    else
      CHECK(reasons.find(c.reason) != std::string::npos);
    CHECK(reasons.find(c.unsaid) == std::string::npos);
  }
}
