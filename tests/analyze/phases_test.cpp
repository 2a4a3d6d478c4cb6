// A step's time by the ranges that name its parts.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>

#include "analyze/analyze.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

constexpr int kSteps = 10;

std::string range(const char* name, int start_us, int duration_us) {
  return fmt::format("{{\"name\":\"{}\",\"startUs\":{},\"durationUs\":{}}}\n", name, start_us,
                     duration_us);
}

// Steps of 1 ms; `inside` gives what one that begins at a time holds.
template <typename Inside>
std::vector<PhaseShare> phases(const std::string& outside, const Inside& inside) {
  std::string lines = outside;
  for (int step = 0; step < kSteps; ++step)
    lines += range("train_step", step * 1000, 1000) + inside(step * 1000);
  const auto trace = read_event_lines(lines, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  const auto ranks = analyze_trace(*trace);
  REQUIRE(ranks.size() == 1);
  return ranks[0].phases;
}

}  // namespace

TEST_CASE("phases are the outermost ranges of a step, longest first, then the rest") {
  const auto rows = phases(range("epoch", 0, 100'000), [](int at) {
    return range("data", at, 100) + range("backward", at + 200, 500) +
           range("hook", at + 300, 100) + range("hook", at + 800, 50) + range("hook", at + 900, 50);
  });
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "backward");
  CHECK(rows[0].host == 500'000);
  CHECK(rows[0].fraction == doctest::Approx(0.5));
  CHECK(rows[0].per_step == doctest::Approx(1));
  // The hook inside the backward pass is part of it.
  CHECK(((rows[1].name == "data" && rows[2].name == "hook") ||
         (rows[1].name == "hook" && rows[2].name == "data")));
  const PhaseShare& hook = rows[rows[1].name == "hook" ? 1 : 2];
  CHECK(hook.host == 100'000);
  CHECK(hook.per_step == doctest::Approx(2));
  CHECK(rows[3].name.empty());
  CHECK(rows[3].host == 300'000);
}

TEST_CASE("a range that fills the step gives way to those inside it, if they say more") {
  const auto wrapped = phases("", [](int at) {
    return range("run_training_batch", at, 1000) + range("closure", at, 960) +
           range("loss_and_grad", at + 100, 600);
  });
  REQUIRE(wrapped.size() == 2);
  CHECK(wrapped[0].name == "loss_and_grad");
  CHECK(wrapped[1].host == 400'000);
  const auto filled = phases(
      "", [](int at) { return range("forward_backward", at, 960) + range("clip", at + 100, 50); });
  REQUIRE(filled.size() == 2);
  CHECK(filled[0].name == "forward_backward");
  CHECK(phases("", [](int) { return std::string(); }).empty());
}

TEST_CASE("a part that is known by its name has a row of its own inside a longer one") {
  const auto rows = phases("", [](int at) {
    return range("Optimizer.step#Adam.step", at + 100, 700) + range("backward", at + 200, 300) +
           range("gc", at + 250, 50) + range("hook", at + 600, 100);
  });
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "Optimizer.step");
  CHECK(rows[0].host == 400'000);
  CHECK(rows[0].per_step == doctest::Approx(1));
  CHECK(rows[1].name == "backward");
  CHECK(rows[1].host == 250'000);
  CHECK(rows[2].name == "gc");
  CHECK(rows[3].host == 300'000);
}

TEST_CASE("device work belongs to the phase that launched it, on whatever thread") {
  const auto rows = phases("", [](int at) {
    const int id = at / 1000 * 2 + 1;
    const auto kernel = [](int launch, int correlation, int duration, int thread) {
      return fmt::format(
          "{{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startUs\":{},\"durationUs\":5,"
          "\"correlation\":{},\"tid\":{}}}\n"
          "{{\"kind\":\"kernel\",\"name\":\"k\",\"startUs\":{},\"durationUs\":{},"
          "\"correlation\":{},\"stream\":7}}\n",
          launch, correlation, thread, launch + 20, duration, correlation);
    };
    return range("backward", at + 100, 500) + kernel(at + 200, id, 300, 2) +
           kernel(at + 700, id + 1, 40, 1);
  });
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "backward");
  CHECK(rows[0].device == 300'000);
  CHECK(rows[1].device == 40'000);
}
