// Steps by calls that recur: what `run --annotate` marks in programs without
// ranges of their own.
//
// A loop may call several such functions: two optimizers in turn, a jitted step
// and now and then a jitted evaluation. Each call is charged with the time until
// the next one of any of them; the function charged with most is the step.
#include <algorithm>
#include <map>
#include <span>

#include "analyze/step_marks.h"

namespace stallscope {
namespace {

constexpr std::string_view kStepCalls[] = {"optimizer.step", "jit ", "filter_jit "};
// One after the other: the profiler's own name of an optimizer's step; and what a loop that updates
// its parameters by hand has left, once per step unless it adds gradients up.
constexpr std::string_view kLikelyCalls[] = {"Optimizer.step#", "backward"};
constexpr size_t kFewestCalls = 3;

using Names = std::span<const std::string_view>;

/// The marked calls of a thread that lie in no other.
std::vector<EventId> outermost_calls(const Trace& trace, const HostThread& thread, Names names) {
  std::vector<EventId> calls;
  std::map<StringId, bool> known;
  Ns reached = 0;
  for (EventId id = thread.first; id < thread.last; ++id) {
    if (trace.kinds()[id] != EventKind::range) continue;
    const auto [it, fresh] = known.try_emplace(trace.names()[id], false);
    if (fresh) {
      auto begins = [name = trace.name(id)](std::string_view call) {
        return name.starts_with(call);
      };
      it->second = std::ranges::any_of(names, begins);
    }
    if (!it->second || (!calls.empty() && trace.end(id) <= reached)) continue;
    reached = trace.end(id);
    calls.push_back(id);
  }
  return calls;
}

struct Function {
  std::vector<EventId> calls;
  Ns charged = 0;
};

StepMarks find_by_names(const ProcessIndex& index, Names names) {
  const Trace& trace = *index.trace;
  StepMarks marks;
  Ns most = 0;
  for (uint32_t at = 0; at < index.threads.size(); ++at) {
    const std::vector<EventId> calls = outermost_calls(trace, index.threads[at], names);
    std::map<StringId, Function> functions;
    for (size_t i = 0; i < calls.size(); ++i) {
      Function& function = functions[trace.names()[calls[i]]];
      function.calls.push_back(calls[i]);
      const Ns end = i + 1 < calls.size() ? trace.starts()[calls[i + 1]] : trace.end(calls[i]);
      // The first call compiles: it would speak for a function that is called once.
      if (function.calls.size() > 1) function.charged += end - trace.starts()[calls[i]];
    }
    for (const auto& [name, function] : functions) {
      if (function.calls.size() < kFewestCalls || function.charged <= most) continue;
      most = function.charged;
      marks.source = StepSource::named_range;
      marks.marker = trace.text(name);
      marks.thread = at;
      marks.hosts.clear();
      for (size_t i = 0; i < function.calls.size(); ++i) {
        const EventId id = function.calls[i];
        const Ns end =
            i + 1 < function.calls.size() ? trace.starts()[function.calls[i + 1]] : trace.end(id);
        marks.hosts.push_back({trace.starts()[id], end});
      }
    }
  }
  if (marks.hosts.empty()) marks.failure = "no marked call recurs";
  return marks;
}

}  // namespace

StepMarks find_steps_by_calls(const ProcessIndex& index, CallEvidence evidence) {
  StepMarks marks;
  if (evidence == CallEvidence::step) return find_by_names(index, kStepCalls);
  for (size_t i = 0; i < std::size(kLikelyCalls) && marks.hosts.empty(); ++i)
    marks = find_by_names(index, Names(kLikelyCalls).subspan(i, 1));
  return marks;
}

}  // namespace stallscope
