#include "report/recoverable.h"

#include <algorithm>
#include <utility>

#include "rule/rank_findings.h"

namespace stallscope {
namespace {

/// True when `inner` happens in what the line of `outer` calls, or at that line.
bool lies_below(const Finding& inner, const Finding& outer) {
  if (outer.locations.empty() || outer.locations.front().line == 0) return false;
  const Place& line = outer.locations.front();
  const auto same = [&](const Place& place) {
    return place.line == line.line && place.file == line.file;
  };
  return (!inner.locations.empty() && same(inner.locations.front())) ||
         std::ranges::any_of(inner.stack, same);
}

/// The sum of one end of the gains, in which what lies in something dearer counts no more.
Ns sum_of(std::vector<const Finding*> findings, Ns Gain::Range::* end, Ns step) {
  const auto gain = [end](const Finding* finding) { return (*finding->gain->step_time).*end; };
  std::ranges::stable_sort(findings, [&](const Finding* a, const Finding* b) {
    return std::pair(a->gain->spread, -gain(a)) < std::pair(b->gain->spread, -gain(b));
  });
  std::vector<std::pair<const Finding*, Ns>> counted;
  Ns sum = 0;
  for (const Finding* finding : findings) {
    Ns more = gain(finding);
    if (finding->gain->spread) {
      const double left = 1 - static_cast<double>(std::min(sum, step)) / static_cast<double>(step);
      more = static_cast<Ns>(static_cast<double>(more) * left);
    }
    for (const auto& [other, part] : counted)
      if (lies_below(*finding, *other) || lies_below(*other, *finding)) more -= part;
    counted.emplace_back(finding, std::max<Ns>(more, 0));
    sum += counted.back().second;
  }
  return sum;
}

}  // namespace

std::optional<Gain::Range> recoverable_range(const std::vector<Finding>& findings,
                                             const RankSummary& rank) {
  const Ns step = mean_step(rank);
  if (step <= 0) return std::nullopt;
  Gain::Range best;
  std::vector<const Finding*> priced;
  bool unpriced = false;
  for (const Finding& finding : findings) {
    if (finding.status != FindingStatus::measured) continue;
    if (!finding.gain || !finding.gain->step_time) {
      unpriced = true;
      continue;
    }
    priced.push_back(&finding);
    const Gain::Range& gain = *finding.gain->step_time;
    best = {std::max(best.low, gain.low), std::max(best.mid, gain.mid),
            std::max(best.high, gain.high)};
  }
  if (unpriced && priced.empty()) return std::nullopt;
  const double compute_share =
      static_cast<double>(rank.mean_breakdown[StepClass::compute]) / static_cast<double>(step);
  const Ns not_compute = step - static_cast<Ns>(static_cast<double>(step) * compute_share);
  const auto capped = [&](Ns total, Ns single) {
    return std::min(std::max(std::min(total, not_compute), single), step);
  };
  const Ns mid = capped(sum_of(priced, &Gain::Range::mid, step), best.mid);
  const Ns high = capped(sum_of(priced, &Gain::Range::high, step), best.high);
  return Gain::Range{std::min(best.low, step), mid, std::max(mid, high)};
}

}  // namespace stallscope
