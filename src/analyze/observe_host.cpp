// host-gap, input-wait, allocation, compile, overhead, garbage-collection: what
// the host did while the device, or the step thread, waited.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_set>

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
    const char* field = state == SampleState::waiting ? "waiting_ns"
                        : delayed                     ? "delayed_ns"
                                                      : "on_cpu_ns";
    const Ns inside = std::min(trace.end(id), to) - starts[id];
    row.per_step[field].add(used, static_cast<double>(std::max<Ns>(inside, 0)));
  }
}

struct Filler {
  SiteId site = 0;
  std::string name;
  bool anonymous = false;  ///< an operator or nothing known, and no line of the user's own
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
    return {site, at.place.known()   ? at.place.function
                  : at.stack.empty() ? std::string("unknown")
                                     : at.stack.front().function};
  }
  const EventId range = filling_range(context, thread, piece.start, until);
  const SiteId launch_site = sites.of(piece.launch);
  if (range == kNoEvent) {
    const Site& at = sites.site(launch_site);
    // Nothing says what ran; what came next says where in the program it was.
    std::string name = at.place.known() ? at.place.function
                       : !at.op.empty() ? at.op
                                        : "code before " + std::string(trace.name(piece.ended_by));
    return {launch_site, std::move(name), !at.place.known()};
  }
  const bool is_operator = trace.details()[range] == static_cast<uint8_t>(RangeKind::op);
  std::string name(trace.name(range));
  if (const NamedFrame frame = named_frame(name); !frame.file.empty())
    name = std::string(frame.function);
  const SiteId site = sites.of(range);
  // A bare annotation has no place of its own; the launch that followed lies near it.
  const SiteId best = sites.site(site).place.known() ? site : launch_site;
  return {best, std::move(name), is_operator && !sites.site(best).place.known()};
}

// Ranges seldom carry a stack; a wait inside one does, and lies on the same call path.
SiteId site_of_wait(const Trace& trace, const HostThread& thread, SiteTable& sites, EventId range) {
  const SiteId site = sites.of(range);
  if (sites.site(site).place.known()) return site;
  for (EventId id = range + 1; id < thread.last && trace.starts()[id] < trace.end(range); ++id)
    if (trace.stacks()[id] != 0) return sites.of(id);
  return site;
}

/// A wait for input and the row it belongs to.
struct Wait {
  Ns start = 0, end = 0;
  ObservationBuilder* row = nullptr;
};

// The line of the user's own that keeps the loader's workers busy, by the samples of those
// processes; empty when there are none.
std::string busiest_worker_line(const RankContext& context, SiteTable& sites) {
  const Trace& trace = context.trace;
  const auto in_worker = [&trace](StackId stack) {
    return std::ranges::any_of(trace.stack(stack), [&trace](FrameId id) {
      return trace.text(trace.frame(id).function).ends_with("_worker_loop");
    });
  };
  std::map<StackId, double> stacks;
  for (EventId id = 0; id < trace.size(); ++id)
    if (trace.kinds()[id] == EventKind::sample &&
        static_cast<SampleState>(trace.details()[id]) != SampleState::waiting)
      stacks[trace.stacks()[id]] += static_cast<double>(trace.durations()[id]);
  struct Function {
    double ns = 0, most = 0;
    Place place;  ///< of its dearest line
  };
  std::map<std::string, Function> functions;
  for (const auto& [stack, ns] : stacks) {
    if (stack == 0 || !in_worker(stack)) continue;
    const Place& place = sites.site(sites.of_stack(stack)).place;
    if (!place.known()) continue;
    Function& function = functions[place.function];
    function.ns += ns;
    if (ns <= function.most) continue;
    function.most = ns;
    function.place = place;
  }
  const auto busiest = std::ranges::max_element(
      functions, {}, [](const auto& function) { return function.second.ns; });
  if (busiest == functions.end()) return {};
  const Place& at = busiest->second.place;
  return at.function + " in the workers (" + at.file.substr(at.file.rfind('/') + 1) + ":" +
         std::to_string(at.line) + ")";
}

// The launches that a wait held up are events of its row too: they move when the wait goes.
void add_held_launches(const RankContext& context, const std::vector<Wait>& waits) {
  for (const IdlePiece& piece : context.idle) {
    if (piece.step_class != StepClass::input_wait || context.used_rank[piece.step] == kNoIndex)
      continue;
    const auto after = std::ranges::lower_bound(waits, piece.end, {}, &Wait::start);
    if (after != waits.begin() && std::prev(after)->end > piece.start)
      std::prev(after)->row->events.push_back(piece.launch);
  }
}

}  // namespace

ThreadIdle::ThreadIdle(const RankContext& context, std::optional<StepClass> only)
    : idle_(context.index.threads.size()) {
  std::vector<UnionBuilder> builders(idle_.size());
  for (const IdlePiece& piece : context.idle) {
    if (piece.thread == kNoIndex || context.used_rank[piece.step] == kNoIndex ||
        piece.step_class == StepClass::other || piece.step_class != only.value_or(piece.step_class))
      continue;
    builders[piece.thread].add(piece.start, piece.end);
  }
  for (size_t i = 0; i < idle_.size(); ++i) idle_[i] = builders[i].take();
}

Ns ThreadIdle::overlap(uint32_t thread, Ns start, Ns end) const {
  return stallscope::overlap(idle_[thread], start, end);
}

namespace {

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
    group.consider(length, piece.launch);
  }
  const double observed =
      static_cast<double>(context.step_mean) * static_cast<double>(context.used.size());
  groups = join_operators(std::move(groups), observed);
  RowMaker maker;
  for (auto& [key, group] : groups) {
    double& at_start = group.numbers["at_step_start"];
    const double total = group.idle.over(context.used.size()).total;
    at_start = total > 0 ? at_start / total : 0;
    // Small gaps in great number are the ordinary cadence of launches: keep what can matter.
    constexpr double kLeastShare = 0.001;
    if (total < kLeastShare * observed) continue;
    maker.add("host-gap", group);
  }
  maker.make(context, sites, observations);
}

void observe_input_wait(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  // What a sync left idle is the sync's: an instant has one class, and one cause is charged for it.
  const ThreadIdle idle(context, StepClass::input_wait);
  std::map<std::pair<SiteId, StringId>, ObservationBuilder> groups;
  std::vector<Wait> waits;
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    // Batches prepared on other threads are what is wanted; only the step thread waits for them.
    if (context.marks.thread != kNoIndex && t != context.marks.thread) continue;
    const HostThread& thread = context.index.threads[t];
    Ns reached = 0;
    bool any = false;
    for (EventId id = thread.first; id < thread.last; ++id) {
      if (trace.kinds()[id] != EventKind::range ||
          !(context.natures[trace.names()[id]] & kInputWait) || (any && trace.end(id) <= reached))
        continue;
      any = true;
      reached = trace.end(id);
      const uint32_t used = context.used_at(trace.starts()[id]);
      if (used == kNoIndex) continue;
      const SiteId site = site_of_wait(trace, thread, sites, id);
      ObservationBuilder& group = groups[{site, trace.names()[id]}];
      if (group.subject.empty()) {
        group.site = site;
        group.subject = trace.name(id);
        group.texts["range"] = trace.name(id);
        if (group.subject.find("MultiProcessing") != std::string::npos)
          if (const std::string line = busiest_worker_line(context, sites); !line.empty())
            group.causes[line] = 1;
      }
      const auto duration = static_cast<double>(trace.durations()[id]);
      group.count.add(used, 1);
      group.blocked.add(used, duration);
      group.idle.add(used, static_cast<double>(idle.overlap(t, trace.starts()[id], trace.end(id))));
      group.events.push_back(id);
      waits.push_back({trace.starts()[id], trace.end(id), &group});
      group.consider(duration, id);
    }
  }
  add_held_launches(context, waits);
  RowMaker maker;
  for (auto& [key, group] : groups) {
    group.numbers["fraction"] = group.blocked.over(context.used.size()).per_step() /
                                static_cast<double>(std::max<Ns>(context.step_mean, 1));
    maker.add("input-wait", group);
  }
  maker.make(context, sites, observations);
}

namespace {

/// The calls of a rank that start collectives.
std::unordered_set<EventId> collective_launches(const RankContext& context) {
  std::unordered_set<EventId> calls;
  if (context.work == nullptr) return calls;
  const Trace& trace = context.trace;
  for (size_t i = 0; i < context.work->activities.size(); ++i) {
    const EventId id = context.work->activities[i];
    const bool collective =
        trace.kinds()[id] == EventKind::collective || context.collective_name[trace.names()[id]];
    if (collective && context.work->launches[i] != kNoEvent)
      calls.insert(context.work->launches[i]);
  }
  return calls;
}

// Whether the next device work that the thread starts after `call` is a collective.
bool before_collective(const Trace& trace, const HostThread& thread, EventId call,
                       const std::unordered_set<EventId>& collectives) {
  constexpr EventId kLookAhead = 64;
  for (EventId id = call + 1; id < thread.last && id - call < kLookAhead; ++id) {
    if (trace.kinds()[id] == EventKind::collective || collectives.contains(id)) return true;
    if (trace.kinds()[id] != EventKind::api) continue;
    const auto api = static_cast<ApiCall>(trace.details()[id]);
    if (api == ApiCall::collective) return true;
    if (api == ApiCall::launch || api == ApiCall::graph_launch || api == ApiCall::copy ||
        api == ApiCall::copy_blocking || api == ApiCall::memset)
      return false;
  }
  return false;
}

}  // namespace

void observe_calls(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  const ThreadIdle idle(context);
  const std::unordered_set<EventId> collectives = collective_launches(context);
  using GroupKey = std::tuple<std::string_view, SiteId, StringId>;
  std::map<GroupKey, ObservationBuilder> groups;
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    const HostThread& thread = context.index.threads[t];
    Ns reached = std::numeric_limits<Ns>::min();
    for (EventId id = thread.first; id < thread.last; ++id) {
      std::string_view kind, call;
      if (trace.kinds()[id] == EventKind::api) {
        const auto api = static_cast<ApiCall>(trace.details()[id]);
        if (api == ApiCall::alloc || api == ApiCall::free || api == ApiCall::host_alloc)
          kind = "allocation";
        if (api == ApiCall::module_load) kind = "compile";
        call = to_string(api);
      } else if (trace.kinds()[id] == EventKind::range &&
                 context.natures[trace.names()[id]] & kCompile) {
        kind = "compile";
        call = "compile";
      }
      // A driver call inside the runtime's call, or a compilation inside another, is the same one.
      if (kind.empty() || trace.end(id) <= reached) continue;
      reached = trace.end(id);
      const Ns start = trace.starts()[id];
      const uint32_t used = context.used_at(start);
      const bool startup = used == kNoIndex && context.in_startup(start);
      if (used == kNoIndex && !startup) continue;
      const SiteId site = sites.of(id);
      ObservationBuilder& group = groups[{kind, site, trace.names()[id]}];
      if (group.subject.empty()) {
        group.site = site;
        group.subject = trace.name(id);
        group.texts["call"] = call;
      }
      const auto duration = static_cast<double>(trace.durations()[id]);
      if (startup) {
        group.one_time_ns += duration;
        continue;
      }
      group.count.add(used, 1);
      group.blocked.add(used, duration);
      group.idle.add(used, static_cast<double>(idle.overlap(t, start, trace.end(id))));
      if (const auto bytes = trace.integer(id, kKeyBytes))
        group.median["bytes"].push_back(static_cast<double>(*bytes));
      if (kind == "allocation" && before_collective(trace, thread, id, collectives))
        group.numbers["before_collective"] += 1;
      group.events.push_back(id);
      group.consider(duration, id);
    }
  }
  RowMaker maker;
  for (auto& [key, group] : groups) {
    if (std::get<0>(key) == "allocation" && !group.events.empty())
      group.numbers["before_collective"] /= static_cast<double>(group.events.size());
    maker.add(std::get<0>(key), group);
  }
  maker.make(context, sites, observations);
}

void observe_overhead(const RankContext& context, SiteTable& sites, Observations& observations) {
  const Trace& trace = context.trace;
  const ThreadIdle idle(context);
  ObservationBuilder overhead;
  std::map<SiteId, ObservationBuilder> collections;
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    const HostThread& thread = context.index.threads[t];
    for (EventId id = thread.first; id < thread.last; ++id) {
      const bool is_overhead = trace.kinds()[id] == EventKind::overhead;
      const bool collects =
          trace.kinds()[id] == EventKind::range && context.natures[trace.names()[id]] & kCollection;
      if (!is_overhead && !collects) continue;
      const uint32_t used = context.used_at(trace.starts()[id]);
      if (used == kNoIndex) continue;
      const SiteId site = collects ? sites.of(id) : 0;
      ObservationBuilder& group = collects ? collections[site] : overhead;
      const auto duration = static_cast<double>(trace.durations()[id]);
      group.site = site;
      if (group.subject.empty()) group.subject = trace.name(id);
      group.count.add(used, 1);
      group.blocked.add(used, duration);
      group.idle.add(used, static_cast<double>(idle.overlap(t, trace.starts()[id], trace.end(id))));
      group.consider(duration, id);
      if (collects) {
        double& longest = group.numbers["longest_ns"];
        longest = std::max(longest, duration);
      }
    }
  }
  RowMaker maker;
  if (!overhead.worst.empty()) {
    overhead.numbers["fraction"] = overhead.blocked.over(context.used.size()).per_step() /
                                   static_cast<double>(std::max<Ns>(context.step_mean, 1));
    maker.add("overhead", overhead);
  }
  for (const auto& [site, group] : collections) maker.add("garbage-collection", group);
  maker.make(context, sites, observations);
}

}  // namespace stallscope
