// node: what the machine took from a rank's steps, by the counters that the
// recorder samples beside the program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "trace/node_counters.h"
#include "trace/slowdown_reasons.h"

namespace stallscope {
namespace {

/// Below this share of the step a machine is as quiet as machines are.
constexpr double kLeastOfStep = 0.01;

/// A counter's values over the time since the one before, on used steps.
struct Series {
  StepSums taken;  ///< value x time: for shares of time
  double weighted = 0, time = 0, largest = 0;
  double mean() const { return time > 0 ? weighted / time : 0; }
};

// Spreads a value over the used steps that its time overlaps.
void add_value(const RankContext& context, Ns from, Ns to, double value, Series& series) {
  auto step = std::ranges::upper_bound(context.steps, from, {}, &Step::host_start);
  if (step != context.steps.begin()) --step;
  for (; step != context.steps.end() && step->host_start < to; ++step) {
    const uint32_t used = context.used_rank[static_cast<size_t>(step - context.steps.begin())];
    const Ns overlap = std::min(to, step->host_end) - std::max(from, step->host_start);
    if (used == kNoIndex || overlap <= 0) continue;
    series.taken.add(used, value * static_cast<double>(overlap));
    series.weighted += value * static_cast<double>(overlap);
    series.time += static_cast<double>(overlap);
    series.largest = std::max(series.largest, value);
  }
}

std::map<std::string, Series> counters_of(const RankContext& context) {
  const Trace& trace = context.trace;
  std::map<std::string, Series> counters;
  std::map<StringId, Ns> last;
  for (const HostThread& thread : context.index.threads)
    for (EventId id = thread.first; id < thread.last; ++id) {
      if (trace.kinds()[id] != EventKind::counter) continue;
      const std::string_view name = trace.name(id);
      if (!name.starts_with("node.") && !name.starts_with("gpu")) continue;
      const std::optional<double> value = trace.number(id, kKeyValue);
      const auto [before, first] = last.try_emplace(trace.names()[id], trace.starts()[id]);
      if (!first && value && std::isfinite(*value))
        add_value(context, before->second, trace.starts()[id], *value, counters[std::string(name)]);
      before->second = trace.starts()[id];
    }
  return counters;
}

class Node {
 public:
  explicit Node(const RankContext& context) : context_(context), counters_(counters_of(context)) {}

  void observe(SiteTable& sites, Observations& observations) {
    if (counters_.empty() || context_.used.empty()) return;
    row_.numbers["other_programs_cpus"] = counters_[node::kOthers].mean();
    row_.numbers["stolen_cpus"] = counters_[node::kStolen].mean();
    take(node::kStopped, "stopped_ns");
    take(node::kThrottled, "throttled_ns");
    take(node::kDelayed, "delayed_ns");
    take(node::kStorage, "storage_ns");
    add_gpu();
    const double step = static_cast<double>(context_.step_mean);
    const double taken = row_.blocked.over(context_.used.size()).per_step();
    if (step <= 0 || (taken < kLeastOfStep * step && !slowed_)) return;
    row_.numbers["fraction"] = taken / step;
    if (const std::string causes = node_causes(row_.numbers, taken); !causes.empty())
      row_.causes[causes] = 1;
    if (row_.subject.empty()) row_.subject = "the machine";
    observations.push_back(row_.finish(context_, sites, "node"));
  }

 private:
  void take(const char* counter, const char* field) {
    const auto series = counters_.find(counter);
    if (series == counters_.end()) return;
    const Distribution taken = series->second.taken.over(context_.used.size());
    row_.numbers[field] = taken.per_step();
    row_.blocked.append(series->second.taken);
  }

  void add_gpu() {
    if (context_.work == nullptr) return;
    const auto device = static_cast<size_t>(std::max(context_.work->device, 0));
    const auto counter = [&](const char* name) -> const Series* {
      const auto found = counters_.find(node::gpu_counter(device, name));
      return found == counters_.end() ? nullptr : &found->second;
    };
    if (const Series* clock = counter(node::kClock)) row_.numbers["clock_mhz"] = clock->mean();
    if (const Series* clock = counter(node::kMaxClock))
      row_.numbers["clock_max_mhz"] = clock->largest;
    if (const Series* processes = counter(node::kProcesses))
      row_.numbers["gpu_processes"] = processes->largest;
    std::string what;
    if (const Series* reasons = counter(node::kReasons))
      if (const std::string why =
              slowdown_reasons(static_cast<uint64_t>(std::max(reasons->largest, 0.0)));
          !why.empty()) {
        row_.texts["throttled"] = why;
        what = "the GPU's clock is lowered" + clock_text() + ": " + why;
      }
    if (const double neighbours = number("gpu_processes"); neighbours > 0)
      what +=
          fmt::format("{}{:.0f} other process{} compute{} on its GPU", what.empty() ? "" : ", and ",
                      neighbours, neighbours == 1 ? "" : "es", neighbours == 1 ? "s" : "");
    if (what.empty()) return;
    slowed_ = true;
    row_.texts["gpu"] = what;
    row_.causes[what] = 2;
  }

  double number(const char* name) const {
    const auto found = row_.numbers.find(name);
    return found == row_.numbers.end() ? 0 : found->second;
  }

  std::string clock_text() const {
    const double clock = number("clock_mhz"), most = number("clock_max_mhz");
    if (clock <= 0) return {};
    return most > 0 ? fmt::format(" to {:.0f} of {:.0f} MHz", clock, most)
                    : fmt::format(" to {:.0f} MHz", clock);
  }

  const RankContext& context_;
  std::map<std::string, Series> counters_;
  ObservationBuilder row_;
  bool slowed_ = false;
};

}  // namespace

std::string node_causes(const std::map<std::string, double>& numbers, double taken_ns) {
  const auto number = [&numbers](std::string_view name) {
    const auto it = numbers.find(std::string(name));
    return it == numbers.end() ? 0 : it->second;
  };
  const double others = number("other_programs_cpus"), stolen = number("stolen_cpus");
  std::vector<std::pair<std::string_view, std::string>> known = {
      {"stopped_ns", "a signal stopped the process"},
      {"throttled_ns", "the CPU quota of its control group held it back"},
      {"storage_ns", "it waited for storage"},
      {"delayed_ns", stolen > others ? fmt::format("the hypervisor took {:.1f} CPUs", stolen)
                                     : fmt::format("other programs used {:.1f} CPUs", others)}};
  std::ranges::stable_sort(known, std::greater<>(),
                           [&](const auto& cause) { return number(cause.first); });
  // What took less than a quarter of it is no cause to speak of.
  constexpr double kGoodPart = 0.25;
  std::string text;
  for (const auto& [field, cause] : known) {
    const double ns = number(field);
    if (ns <= 0 || ns < kGoodPart * taken_ns) continue;
    text +=
        fmt::format("{}{} ({} per step)", text.empty() ? "" : " and ", cause, format_duration(ns));
  }
  return text;
}

void observe_node(const RankContext& context, SiteTable& sites, Observations& observations) {
  Node(context).observe(sites, observations);
}

}  // namespace stallscope
