#include "rule/rank_findings.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace stallscope {
namespace {

const Place& primary(const Finding& finding) {
  static const Place kNowhere;
  return finding.locations.empty() ? kNowhere : finding.locations.front();
}

// A slow rank is a symptom. Where a rule with a remedy says which line makes the
// others wait for that rank, the line comes first.
void put_causes_before_slow_ranks(std::vector<Finding>& findings) {
  for (auto slow = findings.begin(); slow != findings.end(); ++slow) {
    if (!slow->locations.empty() || !slow->subject.starts_with("rank ")) continue;
    const std::string waited_for = slow->subject + ",";
    const auto cause = std::find_if(std::next(slow), findings.end(), [&](const Finding& f) {
      return !f.locations.empty() && f.cause.starts_with(waited_for) &&
             f.fix.applicability != Applicability::display;
    });
    if (cause != findings.end()) slow = std::rotate(slow, cause, std::next(cause));
  }
}

}  // namespace

double seen_cost(const Finding& finding) {
  const auto value = [&finding](std::string_view name) {
    const auto found = std::ranges::find(finding.evidence, name, &Evidence::name);
    return found == finding.evidence.end() ? std::optional<double>() : found->value;
  };
  return value("device idle").value_or(0) +
         value("exposed_ns").value_or(value("duration_ns").value_or(0));
}

void rank_findings(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    const auto key = [](const Finding& f) {
      const Gain::Range range = f.gain && f.gain->step_time ? *f.gain->step_time : Gain::Range();
      const Ns once = f.gain ? f.gain->one_time.value_or(0) : 0;
      const bool priced = f.gain && f.gain->step_time;
      return std::tuple(-range.mid, -once, priced ? 0 : -seen_cost(f), f.advice,
                        -static_cast<int>(f.severity), -f.prominence, -range.low, -range.high);
    };
    const auto tie = [](const Finding& f) {
      return std::tie(f.rule_id, primary(f), f.subject, f.fingerprint);
    };
    const auto ka = key(a), kb = key(b);
    return ka != kb ? ka < kb : tie(a) < tie(b);
  });
  put_causes_before_slow_ranks(findings);
}

const RankSummary* slowest_rank(const RunSummary& summary) {
  const RankSummary* slowest = nullptr;
  for (const RankSummary& rank : summary.ranks) {
    if (!rank.abstentions.empty() || rank.step_median <= 0) continue;
    if (slowest == nullptr || rank.step_median > slowest->step_median) slowest = &rank;
  }
  return slowest;
}

Ns mean_step(const RankSummary& rank) {
  const Ns mean = rank.mean_breakdown.total();
  return rank.step_median > 0 && mean > 0 ? mean : rank.step_median;
}

}  // namespace stallscope
