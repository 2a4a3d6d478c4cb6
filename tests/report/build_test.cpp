#include "report/build.h"
#include "report/comparison.h"
#include "report/recoverable.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "report/sample_report.h"
#include "report/skew.h"
#include "report/text.h"

using namespace stallscope;

namespace {

Finding priced(std::string rule, Ns low, Ns mid, Ns high) {
  Finding finding;
  finding.rule_id = std::move(rule);
  finding.status = FindingStatus::measured;
  finding.gain = Gain{Gain::Range{low, mid, high}, std::nullopt, std::nullopt, "", ""};
  return finding;
}

RankSummary rank_of(Ns compute, Ns sync) {
  RankSummary rank;
  rank.rank = 0;
  rank.mean_breakdown[StepClass::compute] = compute;
  rank.mean_breakdown[StepClass::host_sync] = sync;
  rank.step_median = rank.step_low = rank.step_high = compute + sync;
  return rank;
}

}  // namespace

TEST_CASE("ranks that differ are told of, but for what each recorder counts") {
  ReportInput input;
  for (const char* value : {"1", "2"}) {
    RankSummary& rank = input.summary.ranks.emplace_back(rank_of(900, 100));
    rank.environment = {{"env.OMP_NUM_THREADS", value}, {"recorded.bytes", value}};
  }
  const Report report = build_report(std::move(input));
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0].find("env.OMP_NUM_THREADS") != std::string::npos);
}

TEST_CASE("the headline is the slowest rank's") {
  const Report report = sample::full();
  REQUIRE(report.step_time);
  CHECK(report.step_time->median == report.summary.ranks[1].step_median);
  CHECK(report.steps_used == 184);
  CHECK(report.steps_discarded == 16);
}

TEST_CASE("findings are ranked by gain, whatever order they come in") {
  std::vector<Finding> findings = {priced("b", 0, 5, 9), priced("a", 0, 5, 9),
                                   priced("c", 0, 7, 9)};
  Finding once, unpriced, advice;
  once.rule_id = "once";
  once.gain = Gain{std::nullopt, 1'000'000'000, std::nullopt, "", ""};
  unpriced.rule_id = "unpriced";
  unpriced.severity = Severity::critical;
  advice.rule_id = "advice";
  advice.severity = Severity::critical;
  advice.advice = true;
  findings.insert(findings.begin(), {advice, unpriced, once});
  const std::vector<std::string> expected = {"c", "a", "b", "once", "unpriced", "advice"};
  for (int turn = 0; turn < 2; ++turn) {
    rank_findings(findings);
    std::vector<std::string> order;
    for (const Finding& finding : findings) order.push_back(finding.rule_id);
    CHECK(order == expected);
    std::ranges::reverse(findings);
  }
}

TEST_CASE("what is recoverable in all is capped, because gains overlap") {
  const RankSummary rank = rank_of(600, 400);
  const auto at = [](Finding finding, uint32_t line, std::vector<uint32_t> callers = {}) {
    const auto place = [](uint32_t number) {
      return Place{.file = "train.py", .line = number, .function = "f", .language = "python"};
    };
    finding.locations = {place(line)};
    for (const uint32_t caller : callers) finding.stack.push_back(place(caller));
    return finding;
  };
  const auto spread = [](Finding finding) {
    finding.gain->spread = true;
    return finding;
  };
  struct Case {
    const char* what;
    std::vector<Finding> findings;
    Gain::Range expected;
  };
  const Case cases[] = {
      {"nothing found", {}, {0, 0, 0}},
      {"one finding", {priced("a", 10, 50, 90)}, {10, 50, 90}},
      {"two sum, the lower end is the best one's",
       {priced("a", 10, 50, 90), priced("b", 20, 60, 70)},
       {20, 110, 160}},
      {"the sum stops at what is not compute",
       {priced("a", 10, 300, 350), priced("b", 5, 200, 300)},
       {10, 400, 400}},
      {"what a line waits for is below it, and counts once",
       {at(priced("loader", 0, 100, 100), 60), at(priced("sleep", 0, 110, 120), 5, {5, 12, 60})},
       {0, 110, 120}},
      {"of several below one line, what they have in common",
       {at(priced("outer", 0, 100, 100), 60), at(priced("a", 0, 60, 60), 5, {5, 60}),
        at(priced("b", 0, 30, 30), 7, {7, 60}), at(priced("beside", 0, 20, 20), 61)},
       {0, 120, 120}},
      {"what holds up the whole step takes its share of what is left",
       {spread(priced("node", 0, 100, 200)), at(priced("a", 0, 200, 200), 5)},
       {0, 280, 360}},
      {"a single one beyond it counts, up to the step",
       {priced("a", 10, 500, 2000)},
       {10, 500, 1000}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const auto range = recoverable_range(c.findings, rank);
    REQUIRE(range);
    CHECK(range->low == c.expected.low);
    CHECK(range->mid == c.expected.mid);
    CHECK(range->high == c.expected.high);
  }
  SUBCASE("a finding without a price makes it unknown, not zero") {
    Finding finding;
    finding.status = FindingStatus::measured;
    CHECK_FALSE(recoverable_range({finding}, rank));
  }
  SUBCASE("what was not measured in the run counts for nothing") {
    Finding finding = priced("a", 10, 50, 90);
    finding.status = FindingStatus::static_only;
    CHECK(recoverable_range({finding}, rank)->high == 0);
  }
}

TEST_CASE("no rank that carries a verdict means no figures") {
  const Report report = sample::abstaining();
  CHECK_FALSE(report.step_time);
  CHECK_FALSE(report.recoverable);
  CHECK(report.steps_used == 0);
  CHECK(abstentions(report.summary).size() == 2);
  CHECK(abstentions(sample::empty().summary).size() == 1);
}

TEST_CASE("one step is described, and carries no verdict") {
  struct Case {
    const char* what;
    size_t steps;
    std::vector<std::string> abstentions;
    bool described;
  };
  for (const Case& c : {Case{"one of three", 3, {"too few"}, true},
                        {"what it shows does not hold either", 3, {"too few", "holes"}, false},
                        {"there are enough, and another reason", 9, {"unlaunched"}, false}}) {
    CAPTURE(c.what);
    ReportInput input;
    RankSummary& rank = input.summary.ranks.emplace_back(rank_of(600, 400));
    rank.abstentions = c.abstentions;
    rank.steps.resize(c.steps);
    for (Step& step : rank.steps) step.use = StepUse::first;
    rank.steps[1].use = StepUse::used;
    const Report report = build_report(std::move(input));
    CHECK_FALSE(report.step_time);
    CHECK((described_rank(report.summary) != nullptr) == c.described);
    CHECK(report.steps_used == (c.described ? 1 : 0));
    const std::string page = *find_format("html")->render(report);
    CHECK((page.find("the one step that could be used") != std::string::npos) == c.described);
    CHECK((text_summary(report, {}).find("Compute") != std::string::npos) == c.described);
  }
}

TEST_CASE("a comparison with a run without a verdict names no finding as new or gone") {
  const auto run = [](std::vector<double> steps, std::vector<FindingMeasure> findings) {
    RunMeasures out;
    out.label = "run";
    out.steps = std::move(steps);
    if (out.steps.empty()) out.abstentions = {"too few steps"};
    out.findings = std::move(findings);
    return std::vector<RunMeasures>{out};
  };
  const FindingMeasure item = {.fingerprint = "1",
                               .rule_id = "item-in-step",
                               .title = "t",
                               .severity = "high",
                               .place = "a.py:1",
                               .gain_ns = {},
                               .one_time_ns = {}};
  const std::vector<double> steps(20, 1e6);
  CHECK(compare_runs(run(steps, {}), run(steps, {item})).findings.size() == 1);
  CHECK(compare_runs(run({}, {}), run(steps, {item})).findings.empty());
  CHECK(compare_runs(run(steps, {item}), run({}, {})).findings.empty());
  CHECK(compare_runs(run({}, {}), run({}, {item})).findings.size() == 1);
}

TEST_CASE("a rank that abstains is named when the others carry the verdict") {
  RankSummary good = rank_of(600, 400), bad = rank_of(900, 900);
  bad.rank = 3;
  bad.abstentions = {"steps overlap"};
  ReportInput input;
  input.summary.ranks = {good, bad};
  const Report report = build_report(std::move(input));
  REQUIRE(report.step_time);
  CHECK(report.step_time->median == 1000);
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0] == "rank 3 takes no part in the verdict: steps overlap");
}

TEST_CASE("a rank's wait in a collective needs no clocks") {
  RunSummary summary;
  // Three ranks: 100, 130 and 170 long; rank 2 came last in both.
  for (int64_t sequence : {1, 2})
    summary.collectives[{"dp", sequence}] = {100, 2, 400, 3, 0, "all_reduce"};
  summary.collectives[{"dp", 3}] = {100, 0, 100,
                                    1,   0, "all_reduce"};  // seen on one rank: says nothing
  const auto rows = collective_skew(summary);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].count == 2);
  CHECK(rows[0].late_rank == 2);
  CHECK(rows[0].late_count == 2);
  CHECK(rows[0].wait == 200);
}
