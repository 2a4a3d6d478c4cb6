// Which functions of C++ launch kernels, and which of them are a step, or begin one, for whoever
// calls them in a loop.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "source/link/contexts.h"
#include "source/names/roles.h"

namespace stallscope {

/// Whether a function of C++ does what it calls here: a wrapper's, or a method's of what it holds.
bool Contexts::wraps(const Edge& edge) const {
  const CallFacts& call = *edge.call;
  if (graph_.file(edge.from).language == "python") return false;
  return call.form == CallForm::function || call.form == CallForm::self_method ||
         (call.form == CallForm::method && (call.receiver != 0 || !is_common_method(call.name)));
}

/// Functions of C++ that launch kernels, and those that call such wrappers of kernels.
void Contexts::find_launchers() {
  constexpr int kWrappers = 2;
  launchers_.assign(graph_.functions(), 0);
  for (FunctionId id = 0; id < graph_.functions(); ++id)
    launchers_[id] = (graph_.function(id).flags & kDeviceWork) != 0;
  for (int hop = 0; hop < kWrappers; ++hop) {
    const std::vector<uint8_t> before = launchers_;
    for (const Edge& edge : graph_.edges()) {
      if (before[edge.to] != 0 && wraps(edge)) launchers_[edge.from] = 1;
    }
  }
}

bool Contexts::serves_launchers(FunctionId id) const {
  if ((graph_.function(id).flags & kBesideSteps) != 0 || !graph_.file(id).is_compiled())
    return false;
  bool any = false;
  for (const uint32_t e : graph_.callers(id)) {
    const Edge& edge = graph_.edges()[e];
    const FunctionFacts& caller = graph_.function(edge.from);
    if (edge.call->form == CallForm::reference || (caller.flags & kDeviceWork) == 0 ||
        (caller.flags & kBesideSteps) != 0 || bits_[edge.from] != 0 || steps_.in(edge.from) ||
        is_test(edge.from))
      return false;
    any = any || (edge.call->guards & kSeldom) == 0;
  }
  return any;
}

bool Contexts::supplies_launchers(FunctionId id) const {
  constexpr size_t kFew = 3;
  constexpr unsigned kWrappers = 3;
  constexpr uint32_t kOnce = kBesideSteps & ~static_cast<uint32_t>(kEvalFunction);
  std::set<FunctionId> supplied, known = {id};
  std::vector<FunctionId> wrappers = {id};
  for (unsigned hop = 0; hop <= kWrappers && supplied.size() < kFew; ++hop) {
    std::vector<FunctionId> next;
    for (const FunctionId wrapper : wrappers) {
      for (const uint32_t e : graph_.callers(wrapper)) {
        const Edge& edge = graph_.edges()[e];
        const uint32_t flags = graph_.function(edge.from).flags;
        if (edge.call->form == CallForm::reference || (edge.call->guards & kSeldom) != 0 ||
            (flags & kOnce) != 0 || is_test(edge.from) || !known.insert(edge.from).second)
          continue;
        if ((flags & kDeviceWork) != 0)
          supplied.insert(edge.from);
        else
          next.push_back(edge.from);
      }
    }
    wrappers = std::move(next);
  }
  return supplied.size() >= kFew;
}

/// Simulation::advance(), octree::iterate_once() that launch kernels: one step of a simulation,
/// where a loop calls it, or nobody who is seen.
bool Contexts::steps_simulation(FunctionId id) const {
  const FunctionFacts& f = graph_.function(id);
  constexpr uint32_t kOther = kForward | kBesideSteps;
  if (launchers_[id] == 0 || (f.flags & kOther) != 0 || steps_.in(id) ||
      !graph_.file(id).is_compiled() || !is_simulation_step(f.name) || is_test(id))
    return false;
  const std::span<const uint32_t> callers = graph_.callers(id);
  return callers.empty() || std::ranges::any_of(callers, [&](uint32_t e) {
           const Edge& edge = graph_.edges()[e];
           return edge.call->form != CallForm::reference && repeats(edge) && !is_test(edge.from);
         });
}

/// Whether a loop around a call, of the caller, launches kernels by another function as well.
bool Contexts::launches_beside(const Edge& edge) const {
  const FileFacts& file = graph_.file(edge.from);
  return std::ranges::any_of(graph_.calls(edge.from), [&](uint32_t e) {
    const Edge& other = graph_.edges()[e];
    uint32_t at = other.loop;
    while (at != kNone && at != edge.loop) at = file.loops[at].parent;
    return at == edge.loop && other.to != edge.to && launchers_[other.to] != 0 &&
           (graph_.function(other.to).flags & kInitFunction) == 0;
  });
}

bool Contexts::has_steps(size_t file) const {
  const size_t count = graph_.files()[file]->functions.size();
  for (uint32_t i = 0; i < count; ++i) {
    const FunctionId id = graph_.id_of(file, i);
    if ((bits_[id] & kInStep) != 0 || steps_.in(id)) return true;
  }
  return false;
}

bool Contexts::runs_again(FunctionId id, unsigned hops) const {
  constexpr uint32_t kOther =
      kInitFunction | kEvalFunction | kInferenceFunction | kTestFunction | kCheckpointFunction;
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    if (edge.call->form == CallForm::reference || (edge.call->guards & kSeldom) != 0 ||
        (graph_.function(edge.from).flags & kOther) != 0 || is_test(edge.from))
      return false;
    return repeats(edge) || (hops > 0 && runs_again(edge.from, hops - 1));
  });
}

bool Contexts::is_looped(FunctionId id, unsigned hops) const {
  constexpr uint32_t kOther =
      kInitFunction | kEvalFunction | kInferenceFunction | kTestFunction | kCheckpointFunction;
  constexpr uint16_t kBeside = kInEval | kInInference | kInCheckpoint | kInInit | kAtInterval;
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    if (edge.call->form == CallForm::reference || (edge.call->guards & kSeldom) != 0 ||
        (graph_.function(edge.from).flags & kOther) != 0 || (bits_[edge.from] & kBeside) != 0 ||
        edge.from == id || is_test(edge.from) || is_example(edge.from))
      return false;
    const auto& loops = graph_.file(edge.from).loops;
    const bool repeats =
        edge.loop != kNone && !loops[edge.loop].seldom && !loops[edge.loop].comprehension;
    return repeats || (hops > 0 && is_looped(edge.from, hops - 1));
  });
}

bool Contexts::begins_again(FunctionId id) const {
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    constexpr uint32_t kOnce =
        kInitFunction | kEvalFunction | kTestFunction | kMainFunction | kCheckpointFunction;
    return edge.call->form != CallForm::reference && repeats(edge) && !is_test(edge.from) &&
           (bits_[edge.from] & ~kEvalLoop) == 0 &&
           (graph_.function(edge.from).flags & kOnce) == 0 && launches_beside(edge) &&
           (edge.call->guards & kSeldom) == 0;
  });
}

}  // namespace stallscope
