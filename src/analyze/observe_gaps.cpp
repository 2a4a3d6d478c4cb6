// host-gap: what the host did while the device had nothing to do.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "analyze/launch_figures.h"
#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "trace/sample_state.h"

namespace stallscope {
namespace {

/// A range fills a gap when it covers at least this share of it.
constexpr double kFills = 0.5;

// Children of the gap's thread that began inside it are looked at up to this many.
constexpr size_t kMostChildren = 4096;

// Many short calls of one function fill a gap as one long call does: time by name.
class Repeated {
 public:
  void add(StringId name, EventId id, Ns start, Ns end) {
    Sum& sum = sums_[name];
    if (sum.first == kNoEvent) sum.first = id;
    start = std::max(start, sum.reached);  // a call inside itself counts once
    if (end <= start) return;
    sum.covered += end - start;
    sum.reached = end;
  }

  // The first range of the name that covers most, if that is enough of `length`.
  EventId filling(Ns length) const {
    const Sum* most = nullptr;
    for (const auto& [name, sum] : sums_)
      if (most == nullptr || sum.covered > most->covered) most = &sum;
    const bool fills = most != nullptr &&
                       static_cast<double>(most->covered) >= kFills * static_cast<double>(length);
    return fills ? most->first : kNoEvent;
  }

 private:
  struct Sum {
    EventId first = kNoEvent;
    Ns covered = 0;
    Ns reached = std::numeric_limits<Ns>::min();
  };
  std::map<StringId, Sum> sums_;
};

// The innermost range that covers at least half of [from, to) on the thread; markers of steps say
// nothing and are passed over. kNoEvent when none does.
EventId filling_range(const RankContext& context, const HostThread& thread, Ns from, Ns to) {
  const Trace& trace = context.trace;
  const auto starts = trace.starts();
  const auto row = static_cast<EventId>(
      std::upper_bound(starts.begin() + thread.first, starts.begin() + thread.last, from) -
      starts.begin());
  const auto covers = [&](EventId id) {
    const Ns covered = std::min(trace.end(id), to) - std::max(starts[id], from);
    return static_cast<double>(covered) >= kFills * static_cast<double>(to - from);
  };
  const auto named = [&](EventId id) {
    return trace.kinds()[id] == EventKind::range &&
           !(context.natures[trace.names()[id]] & kFramework);
  };
  EventId best = kNoEvent;
  // Ranges that begin inside the gap are deeper than those around it; the last that covers enough
  // is the innermost.
  size_t seen = 0;
  Repeated repeated;
  for (EventId id = row; id < thread.last && starts[id] < to && seen < kMostChildren;
       ++id, ++seen) {
    if (!named(id)) continue;
    if (covers(id)) best = id;
    repeated.add(trace.names()[id], id, starts[id], std::min(trace.end(id), to));
  }
  if (best != kNoEvent) return best;
  if (const EventId many = repeated.filling(to - from); many != kNoEvent) return many;
  if (row == thread.first) return kNoEvent;
  const EventId before = row - 1;
  EventId around = trace.kinds()[before] == EventKind::range ? before : thread.parent(before);
  for (; around != kNoEvent; around = thread.parent(around))
    if (named(around) && covers(around)) return around;
  return kNoEvent;
}

// The stack seen most often on the thread in [from, to).
StackId commonest_sample(const Trace& trace, const HostThread& thread, Ns from, Ns to) {
  const auto starts = trace.starts();
  auto row = static_cast<EventId>(
      std::lower_bound(starts.begin() + thread.first, starts.begin() + thread.last, from) -
      starts.begin());
  std::map<StackId, size_t> counts;
  for (size_t seen = 0; row < thread.last && starts[row] < to && seen < kMostChildren;
       ++row, ++seen)
    if (trace.kinds()[row] == EventKind::sample && trace.stacks()[row] != 0)
      ++counts[trace.stacks()[row]];
  const auto most = std::ranges::max_element(
      counts, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? 0 : most->first;
}

// Adds to a row how the samples inside [from, to) divide: on a CPU, asleep, ready without a CPU.
void add_cpu_states(const RankContext& context, const HostThread& thread, Ns from, Ns to,
                    uint32_t used, ObservationBuilder& row) {
  const Trace& trace = context.trace;
  const auto starts = trace.starts();
  auto id = static_cast<EventId>(
      std::lower_bound(starts.begin() + thread.first, starts.begin() + thread.last, from) -
      starts.begin());
  size_t seen = 0;
  for (; id < thread.last && starts[id] < to && seen < kMostChildren; ++id, ++seen) {
    if (trace.kinds()[id] != EventKind::sample) continue;
    const auto state = static_cast<SampleState>(trace.details()[id]);
    if (state == SampleState::unknown) continue;
    const bool delayed = state == SampleState::delayed || state == SampleState::python_delayed;
    const bool waits = state == SampleState::waiting || state == SampleState::lock_wait;
    const char* field = waits ? "waiting_ns" : delayed ? "delayed_ns" : "on_cpu_ns";
    const Ns inside = std::min(trace.end(id), to) - starts[id];
    row.per_step[field].add(used, static_cast<double>(std::max<Ns>(inside, 0)));
  }
}

// A kernel by its name; copies and their kin, which have none, by their kind.
std::string work_text(const Trace& trace, EventId work) {
  if (!trace.name(work).empty()) return std::string(trace.name(work));
  switch (trace.kinds()[work]) {
    case EventKind::memcpy:
      return "a copy";
    case EventKind::memset:
      return "a memset";
    default:
      return "device work";
  }
}

struct Filler {
  SiteId site = 0;
  std::string name;
  bool anonymous = false;  ///< an operator or nothing known, and no line of the user's own
  StackId stack = 0;       ///< that led to the site; 0 when it is known by ranges alone
};

// The part of the step that a launch is made in, where no line tells: the outermost range around it
// that says something, else whether the backward pass runs.
std::string phase_of(const RankContext& context, const IdlePiece& piece) {
  const Trace& trace = context.trace;
  const HostThread& thread = context.index.threads[piece.thread];
  EventId named = kNoEvent;
  bool backward = false;
  for (EventId around = thread.parent(piece.launch); around != kNoEvent;
       around = thread.parent(around)) {
    const bool annotation =
        trace.details()[around] == static_cast<uint8_t>(RangeKind::annotation) &&
        !(context.natures[trace.names()[around]] & (kFramework | kCommunication));
    if (annotation) named = around;
    backward = backward || trace.name(around).starts_with("autograd::engine::");
  }
  if (named != kNoEvent) return std::string(trace.name(named));
  return backward ? "the backward pass" : "the step outside the backward pass";
}

// Who kept the device waiting: a range, else what samples show, else the code that launched next.
Filler filler_of(const RankContext& context, SiteTable& sites, const IdlePiece& piece) {
  const Trace& trace = context.trace;
  const HostThread& thread = context.index.threads[piece.thread];
  const Ns until = std::max(piece.start + 1, std::min(piece.end, trace.starts()[piece.launch]));
  if (const StackId sample = commonest_sample(trace, thread, piece.start, until)) {
    const SiteId site = sites.of_stack(sample);
    const Site& at = sites.site(site);
    return {site,
            at.place.known()   ? at.place.function
            : at.stack.empty() ? std::string("unknown")
                               : at.stack.front().function,
            false, sample};
  }
  const EventId range = filling_range(context, thread, piece.start, until);
  const SiteId launch_site = sites.of(piece.launch);
  if (range == kNoEvent) {
    const Site& at = sites.site(launch_site);
    // Nothing says what ran; what came next says where in the program it was.
    std::string name = at.by_autograd     ? std::string("the backward pass")
                       : at.place.known() ? at.place.function
                       : !at.op.empty()   ? at.op
                                          : "code before " + work_text(trace, piece.ended_by);
    return {launch_site, std::move(name), !at.place.known(), trace.stacks()[piece.launch]};
  }
  const bool is_operator = trace.details()[range] == static_cast<uint8_t>(RangeKind::op);
  std::string name(trace.name(range));
  if (const NamedFrame frame = named_frame(name); !frame.file.empty())
    name = std::string(frame.function);
  const SiteId site = sites.of(range);
  // A bare annotation has no place of its own; the launch that followed lies near it.
  const SiteId best = sites.site(site).place.known() ? site : launch_site;
  const StackId own = trace.stacks()[range];
  return {best, std::move(name), is_operator && !sites.site(best).place.known(),
          own != 0 ? own : trace.stacks()[piece.launch]};
}

/// Gaps by who filled them, and in which part of the step where that is no line of the user's.
struct GapKey {
  SiteId site = 0;
  std::string name, phase;
  auto operator<=>(const GapKey&) const = default;
};

void append(ObservationBuilder& into, const ObservationBuilder& gap) {
  into.count.append(gap.count);
  into.idle.append(gap.idle);
  for (const auto& [field, sums] : gap.per_step) into.per_step[field].append(sums);
  double& longest = into.numbers["longest_ns"];
  longest = std::max(longest, gap.numbers.at("longest_ns"));
  into.numbers["at_step_start"] += gap.numbers.at("at_step_start");
  into.events.insert(into.events.end(), gap.events.begin(), gap.events.end());
  for (const auto& [length, event] : gap.worst) into.consider(length, event);
}

// Hundreds of operators that each fill a little of the device's idle time, with no line to tell
// them apart, are one matter: the host does not keep up in that part of the step.
std::map<GapKey, ObservationBuilder> join_operators(std::map<GapKey, ObservationBuilder> gaps,
                                                    double observed_ns) {
  constexpr double kStandsOut = 0.05;  // of the step: an operator that is worth a row of its own
  constexpr size_t kNamed = 3;
  struct Part {
    std::string name;
    double idle = 0;
  };
  std::map<std::string, std::vector<Part>> parts;
  std::map<GapKey, ObservationBuilder> joined;
  for (auto& [key, gap] : gaps) {
    const double idle = gap.idle.total();
    if (key.phase.empty() || idle >= kStandsOut * observed_ns) {
      joined.emplace(key, std::move(gap));
      continue;
    }
    append(joined[{0, {}, key.phase}], gap);
    std::vector<Part>& known = parts[key.phase];
    const auto same = std::ranges::find(known, key.name, &Part::name);
    if (same == known.end())
      known.push_back({key.name, idle});
    else
      same->idle += idle;
  }
  for (auto& [phase, operators] : parts) {
    ObservationBuilder& row = joined[{0, {}, phase}];
    std::ranges::stable_sort(operators, std::greater{}, &Part::idle);
    std::string most;
    for (size_t i = 0; i < std::min(kNamed, operators.size()); ++i)
      most += (i > 0 ? ", " : "") + operators[i].name;
    row.subject = "operators of " + phase;  // the same in every run and rank
    row.texts["host_function"] = row.subject;
    row.texts["most_of_it"] = most;
    row.numbers["operators_joined"] = static_cast<double>(operators.size());
  }
  return joined;
}

}  // namespace

void observe_host_gaps(const RankContext& context, SiteTable& sites, WaitTable& waits,
                       Observations& observations) {
  std::map<GapKey, ObservationBuilder> groups;
  for (const IdlePiece& piece : context.idle) {
    if (piece.step_class != StepClass::host_work) continue;
    const uint32_t used = context.used_rank[piece.step];
    if (used == kNoIndex) continue;
    const Filler filler = filler_of(context, sites, piece);
    waits.add_host_work(piece, filler.site, filler.name);
    ObservationBuilder& group =
        groups[{filler.site, filler.name, filler.anonymous ? phase_of(context, piece) : ""}];
    if (group.subject.empty()) {
      group.site = filler.site;
      group.subject = filler.name;
      group.texts["host_function"] = filler.name;
    }
    const auto length = static_cast<double>(piece.length);
    group.count.add(used, 1);
    group.idle.add(used, length);
    add_cpu_states(context, context.index.threads[piece.thread], piece.start, piece.end, used,
                   group);
    double& longest = group.numbers["longest_ns"];
    longest = std::max(longest, length);
    // A gap that ends in the next step's first activity was filled before that step's launch.
    const bool at_start = piece.end == context.steps[piece.step].window_end;
    group.numbers["at_step_start"] += at_start ? length : 0;
    group.events.push_back(piece.launch);
    group.consider(length, piece.launch, filler.stack);
  }
  if (groups.empty()) return;
  const double observed =
      static_cast<double>(context.step_mean) * static_cast<double>(context.used.size());
  groups = join_operators(std::move(groups), observed);
  const LaunchFigures figures = launch_figures(context);
  RowMaker maker;
  for (auto& [key, group] : groups) {
    double& at_start = group.numbers["at_step_start"];
    const double total = group.idle.over(context.used.size()).total;
    at_start = total > 0 ? at_start / total : 0;
    // Small gaps in great number are the ordinary cadence of launches: keep what can matter.
    constexpr double kLeastShare = 0.001;
    if (total < kLeastShare * observed) continue;
    add_figures(figures, group);
    maker.add("host-gap", group);
  }
  maker.make(context, sites, observations);
}

}  // namespace stallscope
