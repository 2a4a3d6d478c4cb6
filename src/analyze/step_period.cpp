// Steps without markers: the period of the launch sequence.
//
// A kernel that is launched once per step cuts the sequence into steps. Every
// kernel name is tried as such a cut. A cut is a step when nearly every kind of
// kernel that recurs through the trace appears in nearly every piece: cutting
// by layers fails this, because the backward pass and the optimiser appear in
// few of the pieces. Of the cuts that pass, the one with most pieces is the
// step (its multiples pass as well); when rivals disagree, no steps are given.
#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/statistics.h"
#include "analyze/step_marks.h"

namespace stallscope {
namespace {

constexpr size_t kFewestPieces = 3;
/// Share of the recurring names that a piece must hold, mean over names.
constexpr double kCoverage = 0.85;
/// Steps repeat the same program: this share of the pieces must hold nearly as many launches as the
/// median piece, and the pieces must hold nearly all launches there are.
constexpr double kAlike = 0.8;
constexpr double kNearly = 0.05;
constexpr double kWhole = 0.75;
/// Names that come in fewer than half of the pieces may be this share of all names: a single step
/// has many such (embedding, loss, optimiser) around its layers.
constexpr double kMostRare = 0.25;
/// Cuts that agree on the step differ in their median period by less than this.
constexpr double kAgreement = 0.01;

struct NamedLaunch {
  Ns start = 0;
  Ns runs = 0;  ///< when the device begins with what is launched
  StringId name = 0;
  EventId call = kNoEvent;
};

// One cut of the sequence: the launches of one name that starts a new piece.
struct Cut {
  StringId name = 0;
  std::vector<size_t> starts;  // index into launches
  double coverage = 0;
  double median_period = 0;
};

std::vector<NamedLaunch> launch_sequence(const ProcessIndex& index, const DeviceWork& work) {
  const Trace& trace = *index.trace;
  std::vector<NamedLaunch> launches;
  launches.reserve(work.activities.size());
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const EventId call = work.launches[i];
    if (call == kNoEvent) continue;
    const EventId id = work.activities[i];
    launches.push_back({trace.starts()[call], trace.starts()[id], trace.names()[id], call});
  }
  std::ranges::stable_sort(launches, {}, &NamedLaunch::start);
  return launches;
}

size_t longest_pause(const std::vector<size_t>& at) {
  size_t longest = 0;
  for (size_t i = 1; i < at.size(); ++i) longest = std::max(longest, at[i] - at[i - 1]);
  return longest;
}

// Names that come often enough and all through the trace; what only warms up or logs, or comes
// before the steps and after them, is left out.
std::vector<StringId> recurring_names(const std::vector<NamedLaunch>& launches, size_t pieces,
                                      const std::map<StringId, std::vector<size_t>>& places) {
  std::vector<StringId> names;
  for (const auto& [name, at] : places)
    if (at.size() * 2 >= pieces && at.size() >= kFewestPieces &&
        (at.back() - at.front()) * 2 > launches.size() && longest_pause(at) * 2 < launches.size())
      names.push_back(name);
  return names;
}

double coverage(const Cut& cut, const std::vector<StringId>& names,
                const std::map<StringId, std::vector<size_t>>& places) {
  if (names.empty() || cut.starts.size() < 2) return 0;
  const size_t pieces = cut.starts.size() - 1;  // the last one may be incomplete
  double sum = 0;
  for (StringId name : names) {
    size_t held = 0, piece = kNoIndex;
    for (size_t at : places.at(name)) {
      const auto after = std::ranges::upper_bound(cut.starts, at);
      if (after == cut.starts.begin() || after == cut.starts.end()) continue;
      const auto its = static_cast<size_t>(after - cut.starts.begin());
      held += its != piece;
      piece = its;
    }
    sum += static_cast<double>(held) / static_cast<double>(pieces);
  }
  return sum / static_cast<double>(names.size());
}

// Layers pass for steps when a trace holds a single step; their pieces differ between the forward
// and the backward pass, and leave out what comes before, between and after.
bool is_regular(const Cut& cut, size_t launches) {
  std::vector<double> sizes;
  for (size_t i = 1; i < cut.starts.size(); ++i)
    sizes.push_back(static_cast<double>(cut.starts[i] - cut.starts[i - 1]));
  const double median = median_of(sizes);
  const auto alike = std::ranges::count_if(
      sizes, [median](double size) { return std::fabs(size - median) <= kNearly * median; });
  const double whole = static_cast<double>(cut.starts.back() - cut.starts.front()) + median;
  return static_cast<double>(alike) >= kAlike * static_cast<double>(sizes.size()) &&
         whole >= kWhole * static_cast<double>(launches);
}

double rare_names(size_t pieces, const std::map<StringId, std::vector<size_t>>& places) {
  const auto rare = std::ranges::count_if(
      places, [pieces](const auto& entry) { return entry.second.size() * 2 < pieces; });
  return static_cast<double>(rare) / static_cast<double>(places.size());
}

// The median length of the pieces, or 0 when they differ too much in time to be steps.
double steady_period(const Cut& cut, const std::vector<NamedLaunch>& launches,
                     Ns NamedLaunch::* time) {
  constexpr double kSteady = 0.3, kMostOfThem = 0.7;
  std::vector<double> periods;
  for (size_t i = 1; i < cut.starts.size(); ++i)
    periods.push_back(
        static_cast<double>(launches[cut.starts[i]].*time - launches[cut.starts[i - 1]].*time));
  const double median = median_of(periods);
  const auto steady = std::ranges::count_if(
      periods, [median](double period) { return std::fabs(period - median) <= kSteady * median; });
  return static_cast<double>(steady) >= kMostOfThem * static_cast<double>(periods.size()) ? median
                                                                                          : 0;
}

}  // namespace

StepMarks find_steps_by_period(const ProcessIndex& index, const DeviceWork& work) {
  StepMarks marks;
  const std::vector<NamedLaunch> launches = launch_sequence(index, work);
  std::map<StringId, std::vector<size_t>> places;
  for (size_t i = 0; i < launches.size(); ++i) places[launches[i].name].push_back(i);

  // Names with equal counts cut alike; a few of each count are enough to see whether they agree.
  constexpr size_t kCutsPerCount = 8, kMostCounts = 64;
  std::map<size_t, std::vector<StringId>> by_count;
  for (const auto& [name, at] : places)
    if (at.size() >= kFewestPieces && (at.back() - at.front()) * 2 > launches.size() &&
        by_count[at.size()].size() < kCutsPerCount)
      by_count[at.size()].push_back(name);

  std::vector<Cut> passing;
  size_t tried = 0;
  for (auto it = by_count.rbegin(); it != by_count.rend(); ++it) {
    const size_t count = it->first;
    // More pieces than a quarter of all launches is no step.
    if (count * 4 > launches.size() || tried++ > kMostCounts) continue;
    for (StringId name : it->second) {
      Cut cut{name, places.at(name), 0, 0};
      cut.coverage = coverage(cut, recurring_names(launches, kFewestPieces, places), places);
      if (cut.coverage < kCoverage || !is_regular(cut, launches.size()) ||
          rare_names(count, places) > kMostRare)
        continue;
      cut.median_period = steady_period(cut, launches, &NamedLaunch::start);
      // A host that waits for nothing launches in bursts, as far ahead as the queue is deep.
      if (cut.median_period <= 0)
        cut.median_period = steady_period(cut, launches, &NamedLaunch::runs);
      if (cut.median_period <= 0) continue;
      passing.push_back(std::move(cut));
    }
    if (!passing.empty() && passing.front().starts.size() != count) break;
  }
  if (passing.empty()) {
    marks.failure =
        "no range marks steps and the launch sequence has no clear period; name a range with "
        "--step-range";
    return marks;
  }
  const size_t count = passing.front().starts.size();
  for (const Cut& cut : passing) {
    const bool same_count = cut.starts.size() == count;
    const double difference = std::fabs(cut.median_period - passing.front().median_period);
    if (same_count && difference > kAgreement * passing.front().median_period) {
      marks.failure = "the launch sequence fits several periods; name a range with --step-range";
      return marks;
    }
  }
  // The cut that comes first in the sequence starts the step.
  const Cut* first = &passing.front();
  for (const Cut& cut : passing)
    if (cut.starts.size() == count && cut.starts.front() < first->starts.front()) first = &cut;
  marks.source = StepSource::launch_period;
  marks.thread = index.thread_index(launches[first->starts.front()].call);
  for (size_t i = 0; i < first->starts.size(); ++i) {
    const Ns end = i + 1 < first->starts.size() ? launches[first->starts[i + 1]].start
                                                : launches.back().start + 1;
    marks.hosts.push_back({launches[first->starts[i]].start, end});
  }
  return marks;
}

}  // namespace stallscope
