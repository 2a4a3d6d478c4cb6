#include "analyze/compare.h"

#include <doctest/doctest.h>

#include <random>

using namespace stallscope;

namespace {

// Runs of a program whose median step moves from run to run by `spread`, and
// whose steps move by 1 %.
std::vector<RunSteps> runs(size_t count, double mean_ns, double spread, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<RunSteps> result(count);
  for (RunSteps& run : result) {
    const double level = mean_ns * (1 + spread * normal(random));
    for (int step = 0; step < 50; ++step) run.steps.push_back(level * (1 + 0.01 * normal(random)));
  }
  return result;
}

size_t verdicts(Verdict wanted, size_t count, double factor, double spread) {
  std::mt19937_64 random(7);
  size_t found = 0;
  for (int i = 0; i < 100; ++i) {
    const auto before = runs(count, 1e8, spread, random);
    const auto after = runs(count, 1e8 * factor, spread, random);
    found += compare_step_times(before, after).verdict == wanted ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("a program compared with itself stays silent, at least 95 times of 100") {
  struct Case {
    size_t runs;
    double spread;
  };
  for (const Case& c :
       std::initializer_list<Case>{{1, 0.017}, {2, 0.017}, {5, 0.017}, {5, 0.001}}) {
    CAPTURE(c.runs);
    CHECK(verdicts(Verdict::no_evidence, c.runs, 1, c.spread) >= 95);
  }
}

TEST_CASE("a slow-down of 3 % is found with five runs a side on a quiet machine") {
  CHECK(verdicts(Verdict::slower, 5, 1.03, 0.008) >= 95);
  CHECK(verdicts(Verdict::faster, 5, 0.97, 0.008) >= 95);
  CHECK(verdicts(Verdict::faster, 5, 1.03, 0.008) == 0);
}

TEST_CASE("one run a side: the stated spread between runs widens the interval") {
  const std::vector<RunSteps> before = {{"a", std::vector<double>(20, 1e8)}};
  const std::vector<RunSteps> after = {{"b", std::vector<double>(20, 1.04e8)}};
  const StepTimeChange change = compare_step_times(before, after);
  CHECK(change.verdict == Verdict::no_evidence);
  CHECK(change.run_spread_assumed);
  CHECK(change.low < 0);
  CHECK(change.change == doctest::Approx(0.04));
  // History may tell that runs differ less.
  CHECK(compare_step_times(before, after, 0.005).verdict == Verdict::slower);
}

TEST_CASE("edges") {
  const std::vector<RunSteps> some = {{"a", {1e8, 1e8}}};
  CHECK(compare_step_times({}, some).verdict == Verdict::abstain);
  CHECK(compare_step_times(std::vector<RunSteps>{{"x", {}}}, some).verdict == Verdict::abstain);
  CHECK(compare_step_times(some, some).verdict == Verdict::no_evidence);
  // Sure, but too small to matter.
  const std::vector<RunSteps> two = {{"a", {1e8}}, {"b", {1e8}}},
                              nearly = {{"a", {1.0005e8}}, {"b", {1.0005e8}}};
  CHECK(compare_step_times(two, nearly).verdict == Verdict::no_evidence);
}
