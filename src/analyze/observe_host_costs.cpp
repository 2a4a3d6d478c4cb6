// host-cost, hot-function and hot-line: where the step thread's time inside
// steps goes by Python's stacks, whether or not the device waits for it.
#include <array>
#include <bit>
#include <map>
#include <set>

#include "analyze/host_costs.h"
#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/sample_weights.h"

namespace stallscope {
namespace {

/// Rows below this share of the step are noise.
constexpr double kLeastShare = 0.005;
constexpr size_t kMostRows = 40;

struct Sampled {
  double time = 0;
  double samples = 0;
};

/// By stack, and whether Python collected garbage meanwhile.
using SampledStacks = std::map<std::pair<StackId, bool>, Sampled>;

/// A line of a function, or with line 0 the function.
struct PlaceKey {
  StringId file = 0, function = 0;
  uint32_t line = 0;
  auto operator<=>(const PlaceKey&) const = default;
};
struct Hot {
  double own = 0, inclusive = 0, samples = 0;
};

struct Cost {
  Sampled all;
  std::map<SiteId, double> sites;
};

SampledStacks stacks_in_steps(const RankContext& context) {
  const Trace& trace = context.trace;
  SampledStacks stacks;
  const HostThread& thread = context.index.threads[context.marks.thread];
  const auto collects = [&](EventId id) {
    for (EventId range = thread.parent(id); range != kNoEvent; range = thread.parent(range))
      if (trace.kinds()[range] == EventKind::range &&
          context.natures[trace.names()[range]] & kCollection)
        return true;
    return false;
  };
  for_each_sample(trace, thread, [&](EventId id, double weight) {
    if (trace.stacks()[id] == 0 || context.used_at(trace.starts()[id]) == kNoIndex) return;
    Sampled& sampled = stacks[{trace.stacks()[id], collects(id)}];
    sampled.time += weight;
    sampled.samples += 1;
  });
  return stacks;
}

Place place_of(const Trace& trace, const PlaceKey& key) {
  return {std::string(trace.text(key.file)), key.line, 0, std::string(trace.text(key.function)),
          "python"};
}

class Rows {
 public:
  Rows(const RankContext& context, const SiteTable& sites)
      : context_(context),
        sites_(sites),
        steps_(static_cast<double>(context.used.size())),
        step_total_(steps_ * static_cast<double>(context.step_mean)) {}

  bool matters(double time) const { return step_total_ > 0 && time >= kLeastShare * step_total_; }

  void add_costs(const std::array<Cost, kHostCosts>& costs, Observations& rows) const {
    for (size_t i = 0; i < costs.size(); ++i) {
      const Cost& cost = costs[i];
      if (!matters(cost.all.time)) continue;
      ObservationBuilder builder;
      builder.site =
          std::ranges::max_element(cost.sites, {}, [](const auto& s) { return s.second; })->first;
      builder.subject = to_string(static_cast<HostCost>(i));
      builder.numbers["duration_ns"] = cost.all.time / steps_;
      builder.numbers["fraction"] = cost.all.time / step_total_;
      builder.numbers["samples"] = cost.all.samples;
      rows.push_back(builder.finish(context_, sites_, "host-cost"));
    }
  }

  void add_hot(const std::map<PlaceKey, Hot>& hot, std::string_view kind,
               Observations& rows) const {
    std::vector<std::pair<PlaceKey, Hot>> dearest;
    for (const auto& item : hot)
      if (matters(item.second.inclusive)) dearest.push_back(item);
    std::ranges::stable_sort(dearest, std::greater{}, [](const auto& item) {
      return std::pair(item.second.own, item.second.inclusive);
    });
    if (dearest.size() > kMostRows) dearest.resize(kMostRows);
    for (const auto& [key, times] : dearest) {
      ObservationBuilder builder;
      builder.subject = context_.trace.text(key.function);
      builder.numbers["self_ns"] = times.own / steps_;
      builder.numbers["duration_ns"] = times.inclusive / steps_;
      builder.numbers["fraction"] = times.inclusive / step_total_;
      builder.numbers["self_fraction"] = times.own / step_total_;
      builder.numbers["samples"] = times.samples;
      Observation row = builder.finish(context_, sites_, kind);
      row.place = place_of(context_.trace, key);
      rows.push_back(std::move(row));
    }
  }

 private:
  const RankContext& context_;
  const SiteTable& sites_;
  double steps_, step_total_;
};

}  // namespace

void observe_host_costs(const RankContext& context, SiteTable& sites, Observations& observations) {
  if (context.marks.thread == kNoIndex || context.used.empty()) return;
  const Trace& trace = context.trace;
  std::array<Cost, kHostCosts> costs;
  std::map<PlaceKey, Hot> functions, lines;
  std::map<FrameId, uint32_t> signs;
  for (const auto& [key, sampled] : stacks_in_steps(context)) {
    const auto& [stack, collects] = key;
    uint32_t found = collects ? 1U << static_cast<int>(HostCost::garbage_collection) : 0U;
    std::set<PlaceKey> seen;
    bool innermost = true;
    for (const FrameId id : trace.stack(stack)) {
      const Frame& frame = trace.frame(id);
      if (frame.kind != FrameKind::python) continue;
      const auto [sign, added] = signs.try_emplace(id, 0U);
      if (added) sign->second = host_costs_of(trace.text(frame.file), trace.text(frame.function));
      found |= sign->second;
      const auto add = [&](std::map<PlaceKey, Hot>& hot, uint32_t line) {
        const PlaceKey place{frame.file, frame.function, line};
        if (!seen.insert(place).second) return;  // it calls itself
        Hot& at = hot[place];
        at.inclusive += sampled.time;
        at.own += innermost ? sampled.time : 0;
        at.samples += sampled.samples;
      };
      add(functions, 0);
      if (frame.line != 0) add(lines, frame.line);
      innermost = false;
    }
    if (found == 0) continue;
    Cost& cost = costs[static_cast<size_t>(std::countr_zero(found))];
    cost.all.time += sampled.time;
    cost.all.samples += sampled.samples;
    cost.sites[sites.of_stack(stack)] += sampled.time;
  }
  const Rows rows(context, sites);
  rows.add_costs(costs, observations);
  rows.add_hot(functions, "hot-function", observations);
  rows.add_hot(lines, "hot-line", observations);
}

}  // namespace stallscope
