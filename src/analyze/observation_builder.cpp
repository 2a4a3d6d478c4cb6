#include "analyze/observation_builder.h"

#include <algorithm>

#include "analyze/statistics.h"
#include "analyze/timeline.h"

namespace stallscope {

Distribution StepSums::over(size_t used_steps) const {
  Distribution result;
  result.steps = static_cast<uint32_t>(used_steps);
  std::vector<double> values(used_steps, 0);
  for (const auto& [step, value] : sums_) values[step] += value;
  for (double value : values) {
    result.total += value;
    result.maximum = std::max(result.maximum, value);
    result.steps_affected += value > 0;
  }
  result.median = median_of(std::move(values));
  return result;
}

double StepSums::total() const {
  double total = 0;
  for (const auto& [step, value] : sums_) total += value;
  return total;
}

double ObservationBuilder::weight() const {
  const auto duration = per_step.find("duration_ns");
  return std::max({blocked.total() + idle.total(), one_time_ns,
                   duration == per_step.end() ? 0 : duration->second.total()});
}

void RowMaker::make(const RankContext& context, const SiteTable& sites,
                    std::vector<Observation>& rows) {
  std::ranges::stable_sort(candidates_, std::greater<>(), &Candidate::weight);
  std::map<std::string_view, size_t> made;
  for (const Candidate& candidate : candidates_)
    if (made[candidate.kind]++ < kMostPerKind)
      rows.push_back(candidate.builder->finish(context, sites, candidate.kind));
}

void ObservationBuilder::consider(double weight, EventId event, StackId stack) {
  if (stack != 0) stacks[stack] += weight;
  if (worst.size() == kMaxExemplars && weight <= worst.back().first) return;
  const auto at =
      std::ranges::upper_bound(worst, weight, std::greater<>(), &std::pair<double, EventId>::first);
  worst.insert(at, {weight, event});
  if (worst.size() > kMaxExemplars) worst.pop_back();
}

namespace {

bool used_steps_given(const RankContext& context) {
  return context.used.empty() ||
         (!context.marks.hosts.empty() && context.steps[context.used.front()].use == StepUse::used);
}

// The dearest stack, and the library's line through which the largest part comes.
void show_stack(const SiteTable& sites, const ObservationBuilder& builder, Observation& row) {
  constexpr size_t kLooked = 64;
  row.stack = sites.site(builder.site).stack;
  std::vector<std::pair<double, StackId>> dearest;
  double total = 0;
  for (const auto& [stack, weight] : builder.stacks) {
    dearest.emplace_back(weight, stack);
    total += weight;
  }
  std::ranges::sort(dearest, std::greater{});
  if (dearest.size() > kLooked) dearest.resize(kLooked);
  std::map<std::string, double> by_line;
  for (const auto& [weight, stack] : dearest) {
    std::vector<Place> frames = sites.stack_at(builder.site, stack);
    if (std::string line = library_line(frames, row.place); !line.empty())
      by_line[std::move(line)] += weight;
    if (stack == dearest.front().second) row.stack = std::move(frames);
  }
  const auto most = std::ranges::max_element(by_line, {}, [](const auto& l) { return l.second; });
  if (most == by_line.end() || total <= 0) return;
  row.texts["library_line"] = most->first;
  row.numbers["library_share"] = most->second / total;
}

}  // namespace

Observation ObservationBuilder::finish(const RankContext& context, const SiteTable& sites,
                                       std::string_view kind) const {
  Observation row;
  const size_t used = context.used.size();
  const Process& process = context.trace.processes[context.index.process];
  const Site& at = sites.site(site);
  row.kind = kind;
  row.place = at.place;
  row.rank = process.rank;
  row.pid = process.pid;
  row.device = context.work != nullptr ? context.work->device : -1;
  row.subject = subject;
  const auto heaviest = std::ranges::max_element(
      causes, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (heaviest != causes.end()) row.cause = heaviest->first;
  row.count = count.over(used);
  row.blocked_ns = blocked.over(used);
  row.idle_ns = idle.over(used);
  row.one_time_ns = static_cast<Ns>(one_time_ns);
  row.events = events;
  std::ranges::stable_sort(row.events, {},
                           [&context](EventId id) { return context.trace.starts()[id]; });
  row.numbers = numbers;
  for (const auto& [name, sums] : per_step) row.numbers[name] = sums.over(used).per_step();
  for (const auto& [name, values] : median)
    if (!values.empty()) row.numbers[name] = median_of(values);
  row.texts = texts;
  show_stack(sites, *this, row);
  if (!used_steps_given(context))
    row.texts["scope"] = context.marks.hosts.empty() ? "whole trace" : "unusable steps";
  if (!at.op.empty()) {
    row.texts.emplace("operator", at.op);
    row.texts.emplace("operators", at.operators);
  }
  // What hardly matters is shown once: timelines are the larger part of a summary.
  constexpr double kMatters = 0.001;
  const double total = row.blocked_ns.per_step() + row.idle_ns.per_step() +
                       (worst.empty() ? 0 : worst.front().first);
  const bool matters = total >= kMatters * static_cast<double>(context.step_mean);
  for (const auto& [weight, event] : worst) {
    row.exemplars.push_back(timeline_around(context, event));
    if (!matters) break;
  }
  return row;
}

}  // namespace stallscope
