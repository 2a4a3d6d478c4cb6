// host-cost, hot-function and hot-line: where the step thread's time inside
// steps goes by Python's stacks, whether or not the device waits for it.
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "analyze/host_costs.h"
#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/sample_weights.h"

namespace stallscope {
namespace {

/// Rows below this share of the step are noise.
constexpr double kLeastShare = 0.005;
constexpr size_t kMostRows = 40;

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

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
  std::map<FrameId, double> native;  ///< library functions that its own time is spent in
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

// What a stack's innermost Python frame has a library do: of the innermost library's functions the
// one that was called from outside it (dgesdd_, not its kernels). The C library and thread pools
// say how it waits and not what it does.
std::optional<FrameId> native_function(const Trace& trace, std::span<const FrameId> stack) {
  constexpr std::string_view kBelow[] = {"libc.so", "libc-",   "libpthread", "ld-linux",
                                         "libgomp", "libomp.", "libiomp",    "linux-vdso"};
  std::optional<FrameId> found;
  for (const FrameId id : stack) {
    const Frame& frame = trace.frame(id);
    if (frame.kind == FrameKind::python) break;
    if (found && frame.module != trace.frame(*found).module) break;
    const std::string_view module = file_name(trace.text(frame.module));
    const bool below = std::ranges::any_of(
        kBelow, [module](std::string_view name) { return module.starts_with(name); });
    if (frame.kind == FrameKind::native && !below) found = id;
  }
  return found;
}

// "dgesdd_ (libscipy_openblas64_)": the module without its ending and what a wheel adds to it.
std::string native_text(const Trace& trace, FrameId id) {
  const Frame& frame = trace.frame(id);
  const std::string_view function = trace.text(frame.function);
  std::string_view module = file_name(trace.text(frame.module));
  module = module.substr(0, module.find(".so"));
  module = module.substr(0, module.find(".cpython"));
  if (const size_t dash = module.rfind('-');
      dash != std::string_view::npos && module.size() - dash == 9 &&
      module.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos)
    module = module.substr(0, dash);
  // Without a symbol the name begins with the module.
  if (module.empty() || function.starts_with(module)) return std::string(function);
  return std::string(function) + " (" + std::string(module) + ")";
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
      if (!times.native.empty()) {
        const auto& [function, time] = *std::ranges::max_element(
            times.native, {}, [](const auto& native) { return native.second; });
        builder.texts["native"] = native_text(context_.trace, function);
        double known = 0;
        for (const auto& [id, part] : times.native) known += part;
        builder.numbers["native_fraction"] = time / known;
      }
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
    const std::optional<FrameId> native = native_function(trace, trace.stack(stack));
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
        if (innermost && native) at.native[*native] += sampled.time;
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
