// How contexts flow along calls: what a step calls runs in the step, unless the call is rare, for
// an evaluation, or asked for by others.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "source/link/contexts.h"
#include "source/link/given.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {

/// env.step(action): what an environment does it does on the host, before the next action, but for
/// one that is a module.
bool Contexts::is_host_environment(FunctionId id) const {
  const FunctionFacts& f = graph_.function(id);
  return is_one_of(f.name, {"step", "reset"}) &&
         (is_simulator_name(f.class_name) || f.class_name.ends_with("Env")) &&
         std::ranges::none_of(graph_.file(id).classes, [&](const ClassFacts& c) {
           return c.name == f.class_name && c.is_module;
         });
}

/// Whether nobody can have an object of what this edge calls by a method's name, since no file
/// imports it, and the call has another target.
bool Contexts::means_another(const Edge& edge) const {
  const auto out_of_reach = [&](const Edge& e) {
    return (places_[graph_.file_index(e.to)] & kOutOfReach) != 0 &&
           graph_.file_index(e.from) != graph_.file_index(e.to);
  };
  return out_of_reach(edge) && std::ranges::any_of(graph_.calls(edge.from), [&](uint32_t e) {
           const Edge& other = graph_.edges()[e];
           return other.call == edge.call && !out_of_reach(other);
         });
}

/// Dispatcher(experts, gates) of a forward pass is made in each. A module lasts, and so does what
/// holds data or does work; what another object's constructor makes is a part of that.
bool Contexts::is_made_again(const Edge& edge) const {
  const FunctionFacts& to = graph_.function(edge.to);
  const std::string name = lower(snake_case(to.class_name));
  // A local object of C++ is, whatever it is called, but for modules.
  const bool local = graph_.file(edge.to).is_compiled();
  if (graph_.function(edge.from).name == "__init__" ||
      (!local &&
       has_word(name, {"env", "environment", "buffer", "loader", "dataset", "sampler", "trainer",
                       "optimizer", "model", "scheduler", "logger", "writer", "viewer", "collector",
                       "transform", "cache", "manager", "engine"})))
    return false;
  return std::ranges::none_of(graph_.file(edge.to).classes, [&](const ClassFacts& c) {
    return c.name == to.class_name && c.is_module;
  });
}

/// Whether a call that a function makes may hand on `bit`, or begin it, by what is known of the
/// function; for most functions nothing more need be asked.
bool Contexts::may_spread(FunctionId from, uint16_t bit) const {
  const uint16_t bits = bits_[from];
  const bool in_step = (bits & kInStep) != 0 || steps_.in(from);
  switch (bit) {
    case kInStep:
      return in_step;
    case kNearStep:
      return in_step || (bits & kNearStep) != 0;
    case kAtInterval:
      return in_step || (bits & (kInForward | kAtInterval)) != 0;
    case kInEval:
      return in_step || (bits & (kInForward | kInEval)) != 0;
    case kEvalLoop:
      return in_step || (bits & (kInForward | kInEval | kEvalLoop)) != 0;
    case kOutside:
      return (bits & kOutside) != 0 || only_runs_steps(from);
    default:
      return (bits & bit) != 0;
  }
}

/// Whether the caller's context `bit` holds in what this edge calls.
bool Contexts::spreads(const Edge& edge, uint16_t bit) const {
  const CallFacts& call = *edge.call;
  const FunctionFacts& to = graph_.function(edge.to);
  const bool local =
      call.form == CallForm::method && graph_.file(edge.to).is_compiled() && to.makes_or_ends();
  const bool constructs = local || (call.form == CallForm::function && to.name == "__init__");
  if (constructs && ((bit & (kInStep | kInForward)) == 0 || !is_made_again(edge))) return false;
  if (means_another(edge)) return false;
  const uint16_t from = bits_[edge.from];
  const bool in_step_loop = step_loop(edge.from, edge.loop) != kNone;
  const bool in_step =
      in_step_loop || ((from & kInStep) != 0 && !steps_.is_around_own_steps(edge.from));
  const bool rare = (call.guards & kSeldom) != 0 ||
                    ((call.guards & kGuardLeavesLoop) != 0 && is_step_loop(edge.from, edge.loop)) ||
                    (graph_.function(edge.from).flags & kCachedFunction) != 0;
  // What examples and tools run at their top level says nothing about the library they use.
  if ((bit == kOutside || bit == kInInit) && is_example(edge.from) && !is_example(edge.to))
    return false;
  // Nor does what a test does in a step.
  if (is_test(edge.from) && !is_test(edge.to)) return false;
  // `if not self.training: self.metrics(x)`: for each batch of an evaluation.
  const bool evaluates = (call.guards & kGuardEvaluation) != 0;
  // for batch in make_batches(): what a generator makes it makes with the loop.
  const auto again = [&] {
    return is_consumed(edge) || to.name == "__enter__" || to.name == "__exit__";
  };
  // def training_step(self, batch, i): return self.validation_step(batch, i)
  const bool shares = call.form == CallForm::self_method && to.name.ends_with("_step") &&
                      graph_.function(edge.from).name == "training_step";
  const bool named = ((to.flags & (kEvalFunction | kCheckpointFunction)) != 0 ||
                      ((to.flags & kInitFunction) != 0 && !constructs && !again())) &&
                     !steps_.is_whole_step(edge.to) && !shares;
  const bool firm = named && (to.flags & kWeakRole) == 0;
  switch (bit) {
    case kInStep:
      return in_step && !rare && !firm && !evaluates && !is_host_environment(edge.to);
    case kNearStep:
      return (in_step || ((from & kNearStep) != 0 &&
                          (graph_.function(edge.from).flags & kEvalFunction) == 0)) &&
             !rare && !evaluates && !is_host_environment(edge.to);
    case kAtInterval:
      return ((in_step || (from & kInForward) != 0) && rare && !named) ||
             ((from & kAtInterval) != 0 && !in_step_loop && !named);
    case kInForward:
      return (from & kInForward) != 0 && !rare && !firm && !evaluates;
    case kInJit:
      return (from & kInJit) != 0 || (call.guards & kGuardJit) != 0;
    case kInEval:
      if (evaluates && (in_step || (from & kInForward) != 0)) return true;
      [[fallthrough]];
    case kInInference:
    case kInCheckpoint:
    case kInInit:
      // What a function's own name says wins: plot() called by evaluate() builds, it does not run.
      // A constructor that hands on a method does not run it.
      if (bit == kInInit && call.form == CallForm::reference) return false;
      // BuildHistogram() of C++ builds in every step: of what it launches its name says nothing.
      if (bit == kInInit && (to.flags & kDeviceWork) != 0 && sets_up_[edge.from] == 0 &&
          (graph_.function(edge.from).flags & kWeakRole) != 0)
        return false;
      return (from & bit) != 0 && !in_step_loop && (!named || (bits_[edge.to] & bit) != 0);
    case kEvalLoop: {
      if (call.form == CallForm::reference) return false;
      return (from & kEvalLoop) != 0 || (evaluates && (in_step || (from & kInForward) != 0)) ||
             ((from & kInEval) != 0 && is_batch_loop(edge.from, edge.loop));
    }
    case kOutside:
      // What a function runs besides its step loop; references may be called from anywhere.
      return call.form != CallForm::reference && !in_step && (from & (kInForward | kInEval)) == 0 &&
             !repeats(edge) && ((from & kOutside) != 0 || only_runs_steps(edge.from));
    default:
      return false;
  }
}

/// Whether a program of C++ makes this call again and again: in a loop that is not over epochs.
bool Contexts::repeats(const Edge& edge) const {
  const FileFacts& file = graph_.file(edge.from);
  const uint32_t loop = edge.loop;
  return loop != kNone && file.language != "python" && !file.loops[loop].seldom &&
         !file.loops[loop].comprehension;
}

/// `if cfg.prioritised: buffer = PrioritisedBuffer(...)`: whether all who are seen to make objects
/// with a constructor, at least one, tests aside, do so where an option is on that nothing turns
/// on.
bool Contexts::is_made_by_option(FunctionId constructor, const Switchboard& switches) const {
  bool any = false;
  for (const uint32_t e : graph_.callers(constructor)) {
    const Edge& edge = graph_.edges()[e];
    if (is_test(edge.from)) continue;
    if (optional_[edge.from] == 0 &&
        !switches.is_switched_off(graph_.file(edge.from), edge.call->switches))
      return false;
    any = true;
  }
  return any;
}

/// The methods of classes whose objects are made so, and whole steps that are only called so.
void Contexts::find_optional(const Switchboard& switches) {
  constexpr unsigned kHops = 3;  // of classes that such classes make or derive from
  optional_.assign(graph_.functions(), 0);
  bool more = true;
  for (unsigned hop = 0; hop < kHops && more; ++hop) {
    more = false;
    for (FunctionId id = 0; id < graph_.functions(); ++id) {
      const FunctionFacts& f = graph_.function(id);
      const bool constructor = f.name == "__init__" && !f.class_name.empty();
      if (optional_[id] != 0 || !(constructor || steps_.is_whole_step(id)) ||
          !is_made_by_option(id, switches))
        continue;
      more = true;
      if (!constructor) {
        optional_[id] = 1;
        continue;
      }
      const FileFacts& file = graph_.file(id);
      const FunctionId first = id - graph_.index_in_file(id);
      for (uint32_t other = 0; other < file.functions.size(); ++other) {
        if (file.functions[other].class_name == f.class_name) optional_[first + other] = 1;
      }
    }
  }
}

void Contexts::propagate(uint16_t bit, const Switchboard& switches) {
  const auto position = static_cast<size_t>(std::countr_zero(bit));
  std::vector<uint8_t> compiles(bit == kInJit ? graph_.functions() : 0);
  if (bit == kInJit) {
    for (const Edge& edge : graph_.edges()) compiles[edge.from] |= (edge.guards & kGuardJit) != 0;
  }
  std::vector<FunctionId> work, made_by_option;
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    if (may_spread(id, bit) || (bit == kInJit && compiles[id] != 0))
      (optional_[id] != 0 ? made_by_option : work).push_back(id);
  }
  const auto reach = [&](uint32_t e) {
    const FunctionId to = graph_.edges()[e].to;
    bits_[to] |= bit;
    from_[position][to] = e + 1;
    work.push_back(to);
  };
  std::vector<uint32_t> optional, unasked;
  size_t done = 0;
  bool switched_on = false;
  const auto follow = [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    if ((bits_[edge.to] & bit) != 0 || !spreads(edge, bit)) return;
    if (!switched_on &&
        (optional_[edge.to] != 0 || switches.is_off(graph_.file(edge.from), edge.call->switches)))
      optional.push_back(e);
    else if (!is_asked_for(edge, bit))
      unasked.push_back(e);
    else
      reach(e);
  };
  const auto follow_all = [&] {
    while (done < work.size()) {
      for (; done < work.size(); ++done) std::ranges::for_each(graph_.calls(work[done]), follow);
      // Others that came to it since may ask for it.
      std::ranges::for_each(std::exchange(unasked, {}), follow);
    }
  };
  // First by calls that are made, then by those that wait for what nothing turns on.
  follow_all();
  const size_t first_optional = work.size();
  switched_on = true;
  std::ranges::copy(made_by_option, std::back_inserter(work));
  std::ranges::for_each(optional, follow);
  follow_all();
  for (size_t i = first_optional; i < work.size(); ++i) by_option_[work[i]] |= bit;
}

/// Whether something compiles the function itself, rather than what calls it.
bool Contexts::is_jitted(FunctionId id) const {
  return (graph_.function(id).flags & kJitCompiled) != 0 ||
         std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
           return (graph_.edges()[e].guards & kGuardJit) != 0;
         });
}

/// What steps run as Python: update(state) that a compiled function calls too is traced there, but
/// where the loop calls it each of its operations is a call of its own.
void Contexts::find_eager() {
  eager_.assign(graph_.functions(), 0);
  std::vector<FunctionId> work;
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    const bool traced = (bits_[id] & kInJit) != 0;
    if (!traced && ((bits_[id] & kInStep) != 0 || steps_.in(id))) work.push_back(id);
  }
  for (size_t done = 0; done < work.size(); ++done) {
    for (const uint32_t e : graph_.calls(work[done])) {
      const Edge& edge = graph_.edges()[e];
      if (eager_[edge.to] != 0 || (bits_[edge.to] & kInJit) == 0 ||
          edge.call->form == CallForm::reference || !spreads(edge, kInStep) || is_jitted(edge.to))
        continue;
      eager_[edge.to] = 1;
      work.push_back(edge.to);
    }
  }
}

/// decode(x, method): whether a call under `if method == "beam":` is made by what comes to the
/// function with `bit`, as far as those calls say what they give. What has the bit of itself was
/// not called for it.
bool Contexts::is_asked_for(const Edge& edge, uint16_t bit) const {
  const Option& option = edge.call->option;
  return option.parameter == kNone || option.function != graph_.index_in_file(edge.from) ||
         (bits_[edge.from] & bit) == 0 || is_asked(edge.from, option, bit);
}

bool Contexts::is_asked_in_steps(FunctionId function, const Option& option) const {
  const uint16_t runs = bits_[function] & (kInStep | kInForward);
  return runs == 0 || option.function != graph_.index_in_file(function) ||
         graph_.function(function).parameters[option.parameter].starts_with("**") ||
         ((runs & kInStep) != 0 && is_asked(function, option, kInStep)) ||
         ((runs & kInForward) != 0 && is_asked(function, option, kInForward));
}

bool Contexts::is_asked(FunctionId function, const Option& option, uint16_t bit) const {
  const FunctionFacts& f = graph_.function(function);
  const auto position = static_cast<size_t>(std::countr_zero(bit));
  return from_[position][function] == 0 || steps_.in(function) || is_called_from_outside(f) ||
         std::ranges::any_of(graph_.callers(function), [&](uint32_t e) {
           const Edge& call = graph_.edges()[e];
           return spreads(call, bit) && asks_for(*call.call, f, option).value_or(true);
         });
}

bool Contexts::is_by_option(FunctionId function, uint32_t loop) const {
  const uint16_t runs = bits_[function] & (kInStep | kInForward);
  return runs != 0 && (runs & ~by_option_[function]) == 0 && step_loop(function, loop) == kNone;
}

}  // namespace stallscope
