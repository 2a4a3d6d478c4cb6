// python-hot-function: what stack samples say of the user's own lines.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analyze/lines_around_steps.h"
#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/other_threads.h"
#include "analyze/sample_weights.h"
#include "trace/sample_state.h"

namespace stallscope {
namespace {

/// A line with this share of the step in Python itself is charged with it.
constexpr double kLeastCharge = 0.05;

/// Fewer samples say nothing of how much: where 8 are due, 5 to 11 come (one standard deviation).
constexpr uint64_t kFewestCharged = 8;
/// A line around the loop has nearly all samples of the steps.
constexpr double kShareOfLoop = 0.9;

struct HotLine {
  ObservationBuilder step, startup;
  double startup_self = 0;
  uint64_t step_samples = 0, startup_samples = 0;
  Place place;
  std::map<std::string, double> callees;  // what the line calls, by weight
  std::map<std::string, double> natives;  // functions of libraries that it calls
  double python = 0;                      // the interpreter's own work in it
  double charged = 0;                     // see charge_python_time
  uint64_t charged_samples = 0;
};

/// The interpreter's own work at one stack, in used steps.
struct PythonWork {
  double weight = 0;
  uint64_t samples = 0;
};

/// What all samples of the thread add up to.
struct SampledThread {
  std::map<Line, HotLine> lines;
  std::map<SiteId, PythonWork> python;
  double in_steps = 0;
};

// A function of a library below the innermost Python frame.
bool is_native(const Place& place) {
  return place.file.empty() && place.language == "cpp";
}

// Frames of a framework wait for its own business: a device, other ranks, the loader's workers.
bool is_framework(std::string_view file) {
  constexpr std::string_view kFolders[] = {"/torch/", "/jax/", "/jaxlib/", "/tensorflow/",
                                           "/mpi4py/"};
  return std::ranges::any_of(kFolders, [file](std::string_view folder) {
    return file.starts_with(folder.substr(1)) || file.find(folder) != std::string_view::npos;
  });
}

// The user's line called the standard library (a socket, a child process, a lock, a queue) and the
// thread sleeps there. Where the line itself is innermost, who sleeps is unknown: it may be an
// extension that waits for the threads of its own computation.
bool waits_in_standard_library(const std::vector<Place>& stack, size_t user) {
  const auto inside = std::span(stack).first(user);
  const auto python = std::ranges::find_if_not(inside, is_native);
  return python != inside.end() && is_standard_library(python->file) &&
         std::ranges::none_of(inside, [](const Place& it) { return is_framework(it.file); });
}

// The interpreter's own work, whether or not others had the CPUs just then.
bool is_python(SampleState state) {
  return state == SampleState::python || state == SampleState::python_delayed;
}

// Time in Python itself, in libraries, asleep, and ready but without a CPU: how a field is called.
std::string_view state_field(SampleState state) {
  switch (state) {
    case SampleState::python:
      return "python_ns";
    case SampleState::native:
      return "native_ns";
    case SampleState::waiting:
    case SampleState::lock_wait:
      return "waiting_ns";
    case SampleState::delayed:
    case SampleState::python_delayed:
      return "delayed_ns";
    case SampleState::unknown:
      break;
  }
  return {};
}

// True for a wait that another thread ends: a join, an event, a queue, a future.
bool waits_for_thread(const std::vector<Place>& stack, size_t user) {
  constexpr std::string_view kFiles[] = {"/threading.py", "/queue.py",
                                         "/concurrent/futures/_base.py",
                                         "/concurrent/futures/thread.py"};
  return std::ranges::any_of(std::span(stack).first(user), [&](const Place& place) {
    return std::ranges::any_of(kFiles,
                               [&](std::string_view file) { return place.file.ends_with(file); });
  });
}

// What the other threads of the process run while one waits for them.
void note_other_threads(const RankContext& context, SiteTable& sites, EventId id, double weight,
                        ObservationBuilder& row) {
  const Trace& trace = context.trace;
  const TrackId own = trace.tracks_of_events()[id];
  for (const HostThread& thread : context.index.threads) {
    if (thread.track == own || trace.tracks[thread.track].process != trace.tracks[own].process)
      continue;
    const std::optional<EventId> theirs = sample_at(trace, thread, trace.starts()[id]);
    if (!theirs) continue;
    const auto state = static_cast<SampleState>(trace.details()[*theirs]);
    const Place& place = sites.site(sites.of_stack(trace.stacks()[*theirs])).place;
    if (state_field(state) == "waiting_ns" || !place.known()) continue;
    row.causes[place.function + " on another thread (" + line_text(place) + ")"] += weight;
  }
}

void add_sample(const RankContext& context, SiteTable& sites, EventId id, double weight,
                SampledThread& sampled) {
  const uint32_t used = context.used_at(context.trace.starts()[id]);
  if (used == kNoIndex && !context.in_startup(context.trace.starts()[id])) return;
  const SiteId site = sites.of_stack(context.trace.stacks()[id]);
  const auto state = static_cast<SampleState>(context.trace.details()[id]);
  if (used != kNoIndex) sampled.in_steps += weight;
  if (used != kNoIndex && is_python(state)) {
    PythonWork& work = sampled.python[site];
    work.weight += weight;
    ++work.samples;
  }
  const std::vector<Place>& stack = sites.site(site).stack;
  std::set<std::pair<std::string, uint32_t>> seen;
  const std::string field(state_field(state));
  bool innermost = true;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].file.empty() || !sites.is_user(stack[i]) ||
        !seen.emplace(stack[i].file, stack[i].line).second)
      continue;
    HotLine& hot = sampled.lines[{stack[i].file, stack[i].line}];
    if (hot.place.file.empty()) {
      hot.place = stack[i];
      hot.step.site = hot.startup.site = site;
    }
    const bool calls_python = i > 0 && !is_native(stack[i - 1]);
    hot.callees[stack[calls_python ? i - 1 : i].function] += weight;
    if (i > 0 && !calls_python) hot.natives[stack[i - 1].function] += weight;
    if (used != kNoIndex) {
      ++hot.step_samples;
      hot.step.blocked.add(used, weight);
      hot.step.per_step["inclusive_ns"].add(used, weight);
      hot.step.per_step["self_ns"].add(used, innermost ? weight : 0);
      if (!field.empty()) hot.step.per_step[field].add(used, weight);
      if (is_python(state)) hot.python += weight;
      if (innermost && state == SampleState::waiting && waits_in_standard_library(stack, i)) {
        hot.step.per_step["standard_wait_ns"].add(used, weight);
        if (waits_for_thread(stack, i)) note_other_threads(context, sites, id, weight, hot.step);
      }
      hot.step.consider(weight, id);
    } else {
      ++hot.startup_samples;
      hot.startup.one_time_ns += weight;
      if (innermost) hot.startup_self += weight;
    }
    innermost = false;
  }
}

// The lines of a loop or a comprehension are one finding, at the one that takes most. (Lines that
// call something else are different work, though they stand in one function.)
void join_own_lines(std::map<Line, HotLine>& lines) {
  std::map<std::pair<std::string, std::string>, std::vector<HotLine*>> functions;
  for (auto& [line, hot] : lines) {
    const auto callee =
        std::ranges::max_element(hot.callees, {}, [](const auto& it) { return it.second; });
    if (hot.charged > 0 && callee->first == hot.place.function)
      functions[{hot.place.file, hot.place.function}].push_back(&hot);
  }
  for (auto& [function, own] : functions) {
    HotLine* const most = *std::ranges::max_element(own, {}, &HotLine::charged);
    for (HotLine* hot : own)
      if (hot != most) {
        most->charged += std::exchange(hot->charged, 0);
        most->charged_samples += std::exchange(hot->charged_samples, 0);
      }
  }
}

// Each sample of Python itself belongs to one line: the innermost of the user's own that has a
// noticeable part of the step, with all that lies inside it. So what many lines of a function do
// is the line's that calls it, and no time is told twice. What is left to a line around the whole
// loop is nobody's: it cannot be taken out of the step.
void charge_python_time(const RankContext& context, SiteTable& sites, double step_total,
                        SampledThread& sampled) {
  const std::set<Line> around = lines_around_steps(context, sites);
  std::set<Line> chargeable;
  for (const auto& [line, hot] : sampled.lines) {
    if (hot.python < kLeastCharge * step_total) continue;
    const double inclusive = hot.step.blocked.over(context.used.size()).total;
    if (!around.contains(line) || inclusive < kShareOfLoop * sampled.in_steps)
      chargeable.insert(line);
  }
  for (const auto& [site, work] : sampled.python) {
    for (const Place& place : sites.site(site).stack) {
      const auto line = chargeable.find({place.file, place.line});
      if (line == chargeable.end() || place.file.empty() || !sites.is_user(place)) continue;
      HotLine& hot = sampled.lines.at(*line);
      hot.charged += work.weight;
      hot.charged_samples += work.samples;
      break;
    }
  }
  join_own_lines(sampled.lines);
  for (auto& [line, hot] : sampled.lines)
    if (hot.python > 0 && (hot.charged_samples == 0 || hot.charged_samples >= kFewestCharged)) {
      hot.step.numbers["charged_ns"] =
          hot.charged / static_cast<double>(std::max<size_t>(context.used.size(), 1));
      hot.step.numbers["charged_fraction"] = step_total > 0 ? hot.charged / step_total : 0;
    }
}

// Calls of a marked function over trees at a line, per step and before the steps; negative when
// none is marked there.
std::pair<double, double> tree_calls_at(const Place& place, const Observations& observations) {
  for (const Observation& row : observations) {
    if (row.kind != "host-work" || !row.numbers.contains("leaves") ||
        row.place.file != place.file || row.place.line != place.line)
      continue;
    const auto once = row.numbers.find("one_time_calls");
    return {row.count.per_step(), once == row.numbers.end() ? 0 : once->second};
  }
  return {-1, -1};
}

}  // namespace

void observe_samples(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  SampledThread sampled;
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    if (context.marks.thread != kNoIndex && t != context.marks.thread) continue;
    for_each_sample(trace, context.index.threads[t], [&](EventId id, double weight) {
      add_sample(context, sites, id, weight, sampled);
    });
  }
  const auto steps = static_cast<double>(std::max<size_t>(context.used.size(), 1));
  const double step_total = static_cast<double>(context.step_mean) * steps;
  charge_python_time(context, sites, step_total, sampled);
  for (auto& entry : sampled.lines) {
    HotLine& hot = entry.second;
    const auto callee = std::ranges::max_element(
        hot.callees, [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto emit = [&](ObservationBuilder& row, std::string_view phase, uint64_t samples) {
      row.subject = callee->first;
      if (!hot.natives.empty())
        row.texts["native"] = std::ranges::max_element(hot.natives, {}, [](const auto& it) {
                                return it.second;
                              })->first;
      row.texts["phase"] = phase;
      row.numbers["samples"] = static_cast<double>(samples);
      const auto [calls, one_time_calls] = tree_calls_at(hot.place, observations);
      row.numbers["calls"] = phase == "step" ? calls : one_time_calls;
      Observation observation = row.finish(context, sites, "python-hot-function");
      observation.place = hot.place;
      // The stack from this line outwards: what it called differs from sample to sample.
      const auto own = std::ranges::find_if(observation.stack, [&hot](const Place& place) {
        return place.file == hot.place.file && place.line == hot.place.line;
      });
      observation.stack.erase(observation.stack.begin(), own);
      observations.push_back(std::move(observation));
    };
    const double inclusive = hot.step.blocked.over(context.used.size()).total;
    if (hot.step_samples > 1 && step_total > 0 && inclusive >= kLeastHostShare * step_total) {
      hot.step.numbers["fraction"] = inclusive / step_total;
      if (const auto waits = hot.step.per_step.find("standard_wait_ns");
          waits != hot.step.per_step.end() && hot.step_samples >= kFewestCharged)
        hot.step.numbers["standard_wait_fraction"] =
            waits->second.over(context.used.size()).total / step_total;
      emit(hot.step, "step", hot.step_samples);
    }
    if (hot.startup.one_time_ns >= kLeastOneTime && hot.startup_samples > 1) {
      hot.startup.numbers["self_ns"] = hot.startup_self;
      hot.startup.numbers["inclusive_ns"] = hot.startup.one_time_ns;
      emit(hot.startup, "startup", hot.startup_samples);
    }
  }
}

}  // namespace stallscope
