// input-wait: steps that wait for their batch, and what keeps the loader's workers busy.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "trace/sample_state.h"

namespace stallscope {
namespace {

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
  return at.function + " in the workers (" + line_text(at) + ")";
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

}  // namespace stallscope
