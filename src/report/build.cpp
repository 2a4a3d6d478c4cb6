#include "report/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "report/recoverable.h"
#include "rule/rank_findings.h"
#include "trace/run_manifest.h"

namespace stallscope {
namespace {

/// Facts of each rank under the run's own; where ranks differ the first is kept and told.
void merge_environment(Report& report) {
  std::set<std::string> differing;
  for (const RankSummary& rank : report.summary.ranks)
    for (const auto& [key, value] : rank.environment)
      if (const auto [at, added] = report.environment.try_emplace(key, value);
          !added && at->second != value && !counts_recording(key))
        differing.insert(key);
  for (const std::string& key : differing)
    report.warnings.push_back(
        fmt::format("Ranks differ in {}; the report shows the first one's", key));
}

void gather_warnings(Report& report) {
  std::set<std::string> seen(report.warnings.begin(), report.warnings.end());
  for (const RankSummary& rank : report.summary.ranks)
    for (const std::string& warning : rank.health.warnings)
      if (seen.insert(warning).second) report.warnings.push_back(warning);
}

/// "rank 3", or the process where there are no ranks.
std::string rank_name(const RankSummary& rank) {
  return rank.rank >= 0 ? fmt::format("rank {}", rank.rank) : fmt::format("process {}", rank.pid);
}

}  // namespace

const RankSummary* described_rank(const RunSummary& summary) {
  if (const RankSummary* slowest = slowest_rank(summary)) return slowest;
  constexpr size_t kFewSteps = 3;  // what the first and the last leave of them is one
  const auto one = std::ranges::find_if(summary.ranks, [](const RankSummary& rank) {
    return rank.abstentions.size() == 1 && rank.steps.size() <= kFewSteps &&
           count_steps(rank).used == 1 && rank.mean_breakdown.total() > 0;
  });
  return one == summary.ranks.end() ? nullptr : &*one;
}

std::vector<std::string> abstentions(const RunSummary& summary) {
  if (slowest_rank(summary) != nullptr) return {};
  if (summary.ranks.empty()) return {"No process left any events that can be analysed"};
  std::vector<std::string> reasons;
  std::set<std::string> seen;
  for (const RankSummary& rank : summary.ranks) {
    for (const std::string& reason : rank.abstentions)
      if (seen.insert(reason).second)
        reasons.push_back(
            summary.ranks.size() == 1 ? reason : fmt::format("{}: {}", rank_name(rank), reason));
    if (rank.abstentions.empty() && seen.insert("").second)
      reasons.push_back(fmt::format("{}: no step could be used", rank_name(rank)));
  }
  return reasons;
}

StepCounts count_steps(const RankSummary& rank) {
  StepCounts counts;
  for (const Step& step : rank.steps) {
    switch (step.use) {
      case StepUse::used:
        ++counts.used;
        break;
      case StepUse::first:
        ++counts.first;
        break;
      case StepUse::last:
        ++counts.last;
        break;
      case StepUse::warm_up:
        ++counts.warm_up;
        break;
      case StepUse::launched_before_capture:
        ++counts.launched_before_capture;
        break;
      case StepUse::hole:
        ++counts.hole;
        break;
      case StepUse::no_work:
        ++counts.no_work;
        break;
      case StepUse::overlapping:
        ++counts.overlapping;
        break;
    }
  }
  return counts;
}

Report build_report(ReportInput input) {
  Report report;
  report.run = std::move(input.run);
  report.inputs = std::move(input.inputs);
  report.environment = std::move(input.environment);
  report.summary = std::move(input.summary);
  report.overhead = input.overhead;
  report.replay_error = input.replay_error;
  report.findings = std::move(input.findings);
  report.rules = std::move(input.rules);
  report.sources = std::move(input.sources);
  report.warnings = std::move(input.warnings);
  report.errors = std::move(input.errors);
  merge_environment(report);
  gather_warnings(report);
  rank_findings(report.findings);
  std::ranges::sort(report.rules, {}, &RuleMeta::id);

  if (const RankSummary* slowest = slowest_rank(report.summary)) {
    report.step_time =
        StepTime{slowest->step_median, slowest->step_low, slowest->step_high, mean_step(*slowest)};
    const StepCounts counts = count_steps(*slowest);
    report.steps_used = counts.used;
    report.steps_discarded = counts.discarded();
    report.recoverable = recoverable_range(report.findings, *slowest);
    for (const RankSummary& rank : report.summary.ranks)
      for (const std::string& reason : rank.abstentions)
        report.warnings.push_back(
            fmt::format("{} takes no part in the verdict: {}", rank_name(rank), reason));
  } else {
    if (const RankSummary* one = described_rank(report.summary))
      report.steps_used = count_steps(*one).used;
    for (const RankSummary& rank : report.summary.ranks)
      report.steps_discarded += count_steps(rank).discarded();
  }
  return report;
}

}  // namespace stallscope
