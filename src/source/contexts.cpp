#include "source/contexts.h"

#include <algorithm>
#include <bit>

#include "source/names.h"
#include "source/role_words.h"
#include "source/roles.h"

namespace stallscope {

namespace {

/// A loop of several updates on one batch is a part of the loop over the batches: both are steps.
void mark_step_loop(const FileFacts& file, uint32_t loop, std::vector<uint8_t>& marks) {
  marks[loop] = 1;
  if (file.loops[loop].over_batches) return;
  const uint32_t up = file.loops[loop].parent;
  if (up != kNone && file.loops[up].over_batches && !file.loops[up].seldom) marks[up] = 1;
}

}  // namespace

Contexts::Contexts(const CallGraph& graph, std::vector<EntryPoint> entry_points)
    : graph_(graph), entry_points_(std::move(entry_points)) {
  bits_.assign(graph.functions(), 0);
  whole_step_.assign(graph.functions(), 0);
  from_.assign(16, std::vector<uint32_t>(graph.functions(), 0));
  find_launchers();
  find_step_loops();
  find_epoch_runners();
  seed();
  for (uint16_t bit : {kInStep, kInForward, kInJit, kNearStep, kAtInterval, kInEval, kInInference,
                       kInCheckpoint, kInInit, kOutside, kEvalLoop})
    propagate(bit);
}

bool Contexts::is_entry(FunctionId id, bool step) const {
  const FunctionFacts& f = graph_.function(id);
  // train_step_gen(), training_step_logs(): parts of a step by their names; _execute_train_step().
  const std::string_view name = std::string_view(f.name).substr(f.name.starts_with('_') ? 1 : 0);
  if (step && !f.class_name.empty() &&
      (name.starts_with("train_step_") || name.starts_with("training_step_") ||
       name.ends_with("_train_step") || name.ends_with("_training_step")) &&
      !contains_any(name, {"end", "fn", "func", "init", "config", "make", "build", "create", "get_",
                           "compile", "jit", "before_", "after_", "on_"}))
    return true;
  for (const EntryPoint& entry : entry_points_) {
    if (entry.step != step || entry.name != f.name) continue;
    if (entry.class_contains.empty()) return true;
    if (f.class_name.empty()) continue;
    if (f.class_name.find(entry.class_contains) != std::string::npos) return true;
    for (const ClassFacts& c : graph_.file(id).classes) {
      if (c.name != f.class_name) continue;
      for (const std::string& base : c.bases) {
        if (base.find(entry.class_contains) != std::string::npos) return true;
      }
    }
  }
  return false;
}

/// Whether a file of Python defines modules that another file imports, and is no trainer: by its
/// name, or as it reads a command line.
bool Contexts::is_imported_module(const FileFacts& file) const {
  const auto reads_arguments = [](const auto& bound_from) {
    return is_one_of(first_component(bound_from.second),
                     {"argparse", "tyro", "hydra", "absl", "fire", "click", "simple_parsing"});
  };
  if (file.language != "python" || std::ranges::none_of(file.classes, &ClassFacts::is_module) ||
      std::ranges::any_of(file.imports, reads_arguments))
    return false;
  const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
  const std::string stem(name.substr(0, name.rfind('.')));
  if (contains_any(stem, {"train", "main", "run", "tune", "example", "demo", "fit"})) return false;
  const std::string within = "." + stem + ".";
  const auto imports = [&](const auto& bound_from) {
    return ("." + bound_from.second + ".").find(within) != std::string::npos;
  };
  return std::ranges::any_of(graph_.files(), [&](const auto& other) {
    return other.get() != &file && std::ranges::any_of(other->imports, imports);
  });
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
      if (before[edge.to] != 0 && edge.call->form == CallForm::function &&
          graph_.file(edge.from).language != "python")
        launchers_[edge.from] = 1;
    }
  }
}

/// The innermost loop holding the optimiser's step, else backward, in each
/// function; then the loops that call functions which are one step themselves.
void Contexts::find_step_loops() {
  size_t files = 0;
  for (FunctionId id = 0; id < graph_.functions(); ++id)
    files = std::max(files, graph_.file_index(id) + 1);
  step_loops_.resize(files);
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    const FileFacts& file = graph_.file(id);
    std::vector<uint8_t>& marks = step_loops_[graph_.file_index(id)];
    if (graph_.index_in_file(id) == 0) {
      marks.assign(file.loops.size(), 0);
      std::vector<uint8_t> optimizer(file.functions.size(), 0);
      for (const LoopFacts& loop : file.loops) optimizer[loop.function] |= loop.optimizer_step;
      for (uint32_t l = 0; l < file.loops.size(); ++l) {
        const LoopFacts& loop = file.loops[l];
        if (!loop.optimizer_step && (!loop.backward || optimizer[loop.function])) continue;
        // A module that others import tries itself when it is run.
        if (loop.function == 0 && is_imported_module(file)) continue;
        if (!loop.optimizer_step && (file.functions[loop.function].flags & kStepEvidence) != 0)
          continue;
        uint32_t at = l;
        auto around_backward = [&](uint32_t from) {
          for (uint32_t up = file.loops[from].parent; up != kNone; up = file.loops[up].parent) {
            if (file.loops[up].backward) return true;
          }
          return false;
        };
        while (at != kNone && (file.loops[at].over_optimizers || file.loops[at].over_parameters ||
                               (!file.loops[at].backward && around_backward(at)))) {
          at = file.loops[at].parent;
        }
        if (at == kNone)
          whole_step_[graph_.id_of(graph_.file_index(id), loop.function)] = loop.function != 0;
        else
          mark_step_loop(file, at, marks);
      }
    }
  }
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    const FunctionFacts& f = graph_.function(id);
    const FileFacts& file = graph_.file(id);
    bool has_loop = false;
    for (uint32_t l = 0; l < file.loops.size(); ++l) {
      has_loop |= file.loops[l].function == graph_.index_in_file(id) &&
                  step_loops_[graph_.file_index(id)][l] != 0;
    }
    // A constructor takes the gradient of a function to keep it: nothing is stepped there.
    const bool constructor = f.name == "__init__" || (!f.name.empty() && f.name == f.class_name);
    if ((f.flags & kStepEvidence) != 0 && !has_loop && !constructor &&
        (f.flags & (kModuleLevel | kTestFunction)) == 0 &&
        !((f.flags & kMainFunction) != 0 && f.class_name.empty()))
      whole_step_[id] = 1;
    if (is_entry(id, true)) whole_step_[id] = 1;
  }
  // Callers: the loop around a call of a step is a step loop; without one, the caller is a step
  // too.
  std::vector<FunctionId> work;
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    if (whole_step_[id] != 0) work.push_back(id);
  }
  while (!work.empty()) {
    FunctionId id = work.back();
    work.pop_back();
    for (uint32_t e : graph_.callers(id)) {
      const Edge& edge = graph_.edges()[e];
      const CallFacts& call = *edge.call;
      const FileFacts& file = graph_.file(edge.from);
      uint32_t loop = call.loop;
      while (loop != kNone && (file.loops[loop].comprehension || file.loops[loop].over_parameters ||
                               file.loops[loop].over_optimizers)) {
        loop = file.loops[loop].parent;
      }
      if (loop != kNone) {
        mark_step_loop(file, loop, step_loops_[graph_.file_index(edge.from)]);
        continue;
      }
      const FunctionFacts& caller = graph_.function(edge.from);
      if (call.form == CallForm::reference ||
          (caller.flags & (kModuleLevel | kMainFunction | kInitFunction)) != 0)
        continue;
      if (graph_.callers(edge.from).empty()) continue;
      if (whole_step_[edge.from] == 0) {
        whole_step_[edge.from] = 1;
        work.push_back(edge.from);
      }
    }
  }
}

uint32_t Contexts::step_loop(FunctionId function, uint32_t loop) const {
  const FileFacts& file = graph_.file(function);
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    if (step_loops_[graph_.file_index(function)][at] != 0) return at;
  }
  return kNone;
}

/// The C++ functions that a module of Python is made of: its operators.
std::vector<uint8_t> Contexts::bound_functions() const {
  std::vector<uint8_t> out(graph_.functions(), 0);
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    if (graph_.index_in_file(id) != 0) continue;
    for (const std::string& name : graph_.file(id).bound) {
      for (FunctionId to : graph_.named(name)) {
        const FunctionFacts& f = graph_.function(to);
        constexpr uint32_t kBeside = kInitFunction | kCheckpointFunction | kTestFunction;
        // sample_points() launches kernels: an operator, whatever its name says.
        const bool evaluates = (f.flags & kEvalFunction) != 0 &&
                               (f.flags & (kWeakRole | kDeviceWork)) != (kWeakRole | kDeviceWork);
        if (graph_.file(to).language == "python" || (f.flags & kBeside) != 0 || evaluates ||
            contains_any(graph_.file(to).path, {"viewer", "visualiz", "/gui/"}))
          continue;
        // Of shapes alone.
        out[to] = !f.name.ends_with("_meta");
      }
    }
  }
  return out;
}

void Contexts::seed() {
  const std::vector<uint8_t> bound = bound_functions();
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    const FunctionFacts& f = graph_.function(id);
    const bool eval_entry = is_entry(id, false);
    // sample_points(), generate_rays(), sub_sampling() that launch kernels are operators.
    const bool operates = launchers_[id] != 0 && (f.flags & kWeakRole) != 0 &&
                          graph_.file(id).language != "python" && !predicts(f.name);
    if (evaluates_for_training(id)) bits_[id] |= kInEval;
    if (whole_step_[id] != 0) bits_[id] |= kInStep;
    if ((f.flags & kForward) != 0 || bound[id] != 0) bits_[id] |= kInForward;
    if ((f.flags & kJitCompiled) != 0) bits_[id] |= kInJit;
    if (whole_step_[id] == 0) {
      if (((f.flags & kEvalFunction) != 0 && !operates) || eval_entry) bits_[id] |= kInEval;
      // What steps call too by its name, and nobody is seen to call, may be called for each batch.
      if (eval_entry || ((f.flags & kWeakRole) != 0 && !operates &&
                         !(is_called(id) || has_loop(id) || is_whole_evaluation(f.name))))
        bits_[id] |= kEvalLoop;
      if ((f.flags & kInferenceFunction) != 0 && !operates) bits_[id] |= kInInference;
      if ((f.flags & kCheckpointFunction) != 0) bits_[id] |= kInCheckpoint;
      if ((f.flags & kInitFunction) != 0) bits_[id] |= kInInit;
    }
    // C++ runs nothing there: REGISTER(...).set_body([](...) { ... }) offers it.
    const bool loaded = (f.flags & kModuleLevel) != 0 && graph_.file(id).language == "python";
    if (loaded || ((f.flags & kMainFunction) != 0 && f.class_name.empty())) bits_[id] |= kOutside;
  }
}

/// Whether the caller's context `bit` holds in what this edge calls.
bool Contexts::spreads(const Edge& edge, uint16_t bit) const {
  const CallFacts& call = *edge.call;
  const FunctionFacts& to = graph_.function(edge.to);
  // Net(...): what a constructor does it does once.
  if (to.name == "__init__" && call.form == CallForm::function) return false;
  const uint16_t from = bits_[edge.from];
  const bool in_step_loop = step_loop(edge.from, call.loop) != kNone;
  const bool in_step = in_step_loop || ((from & kInStep) != 0 && !is_around_own_steps(edge.from));
  const bool rare =
      (call.guards & (kGuardInterval | kGuardErrorPath | kGuardDebug | kGuardCached)) != 0;
  // What examples and tools run at their top level says nothing about the library they use.
  if ((bit == kOutside || bit == kInInit) && is_example_path(graph_.file(edge.from).path) &&
      !is_example_path(graph_.file(edge.to).path))
    return false;
  // Nor does what a test does in a step.
  if (is_test_path(graph_.file(edge.from).path) && !is_test_path(graph_.file(edge.to).path))
    return false;
  // `if not self.training: self.metrics(x)`: for each batch of an evaluation.
  const bool evaluates = (call.guards & kGuardEvaluation) != 0;
  const bool named = (to.flags & (kEvalFunction | kCheckpointFunction | kInitFunction)) != 0 &&
                     whole_step_[edge.to] == 0;
  const bool firm = named && (to.flags & kWeakRole) == 0;
  switch (bit) {
    case kInStep:
      return in_step && !rare && !firm && !evaluates;
    case kNearStep:
      return (in_step || ((from & kNearStep) != 0 &&
                          (graph_.function(edge.from).flags & kEvalFunction) == 0)) &&
             !rare && !evaluates;
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
      if (bit == kInInit && (to.flags & kDeviceWork) != 0 &&
          (graph_.function(edge.from).flags & kWeakRole) != 0)
        return false;
      return (from & bit) != 0 && !in_step_loop && (!named || (bits_[edge.to] & bit) != 0);
    case kEvalLoop: {
      if (call.form == CallForm::reference) return false;
      return (from & kEvalLoop) != 0 || (evaluates && (in_step || (from & kInForward) != 0)) ||
             ((from & kInEval) != 0 && is_batch_loop(edge.from, call.loop));
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
  const uint32_t loop = edge.call->loop;
  return loop != kNone && file.language != "python" && !file.loops[loop].seldom &&
         !file.loops[loop].comprehension;
}

void Contexts::propagate(uint16_t bit) {
  const auto position = static_cast<size_t>(std::countr_zero(bit));
  std::vector<std::vector<uint32_t>> out(graph_.functions());
  for (uint32_t e = 0; e < graph_.edges().size(); ++e) out[graph_.edges()[e].from].push_back(e);
  std::vector<FunctionId> work;
  for (FunctionId id = 0; id < graph_.functions(); ++id) work.push_back(id);
  for (size_t i = 0; i < work.size(); ++i) {
    for (uint32_t e : out[work[i]]) {
      const Edge& edge = graph_.edges()[e];
      if ((bits_[edge.to] & bit) != 0 || !spreads(edge, bit)) continue;
      bits_[edge.to] |= bit;
      from_[position][edge.to] = e + 1;
      work.push_back(edge.to);
    }
  }
}

bool Contexts::has_open_caller(FunctionId id) const {
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    return edge.call->form != CallForm::reference && bits_[edge.from] == 0 &&
           (edge.call->guards & (kGuardInterval | kGuardErrorPath | kGuardDebug)) == 0 &&
           !is_test_path(graph_.file(edge.from).path);
  });
}

bool Contexts::serves_many(FunctionId id) const {
  constexpr size_t kMany = 3;
  std::vector<size_t> files;
  for (const uint32_t e : graph_.callers(id)) {
    const Edge& edge = graph_.edges()[e];
    const size_t file = graph_.file_index(edge.from);
    const std::string& path = graph_.file(edge.from).path;
    if (edge.call->form == CallForm::reference || std::ranges::find(files, file) != files.end() ||
        is_test_path(path) || is_example_path(path))
      continue;
    files.push_back(file);
    if (files.size() == kMany) return true;
  }
  return false;
}

bool Contexts::is_called(FunctionId id) const {
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    return graph_.edges()[e].call->form != CallForm::reference;
  });
}

bool Contexts::has_loop(FunctionId id) const {
  return std::ranges::any_of(graph_.file(id).loops, [&](const LoopFacts& loop) {
    return loop.function == graph_.index_in_file(id) && !loop.comprehension;
  });
}

bool Contexts::is_batch_loop(FunctionId id, uint32_t loop) const {
  const FileFacts& file = graph_.file(id);
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    const LoopFacts& l = file.loops[at];
    if (!l.comprehension && !l.generates && (l.over_batches || l.runs_model)) return true;
  }
  return false;
}

bool Contexts::only_runs_steps(FunctionId id) const {
  return (has_step_loop(id) || runs_epochs_[id] != 0) && bits_[id] == 0;
}

/// run(), called by what trains, or beside it in a class: a model over all batches of a loader
/// without gradients, whatever the function's name says.
bool Contexts::evaluates_for_training(FunctionId id) const {
  const FunctionFacts& f = graph_.function(id);
  if ((f.flags & kWithoutGrad) == 0 || (f.flags & (kModuleLevel | kTestFunction)) != 0 ||
      whole_step_[id] != 0 || has_step_loop(id))
    return false;
  const bool over_batches = std::ranges::any_of(graph_.file(id).loops, [&](const LoopFacts& loop) {
    return loop.function == graph_.index_in_file(id) && loop.over_batches && loop.runs_model &&
           !loop.generates;
  });
  if (!over_batches) return false;
  if (graph_.callers(id).empty() && !f.class_name.empty() && !f.name.starts_with("get_"))
    return trains_itself(id);
  return std::ranges::any_of(graph_.callers(id), [&](uint32_t e) {
    const Edge& edge = graph_.edges()[e];
    return edge.call->form != CallForm::reference &&
           (has_step_loop(edge.from) || runs_epochs_[edge.from] != 0);
  });
}

/// Whether the class of a method has the loop over training's steps.
bool Contexts::trains_itself(FunctionId method) const {
  const FileFacts& file = graph_.file(method);
  const FunctionId first = method - graph_.index_in_file(method);
  for (uint32_t f = 0; f < file.functions.size(); ++f) {
    if (file.functions[f].class_name == graph_.function(method).class_name &&
        has_step_loop(first + f))
      return true;
  }
  return false;
}

/// fit() that calls train_epoch(), which has the loop: what else it calls runs once an epoch.
void Contexts::find_epoch_runners() {
  runs_epochs_.assign(graph_.functions(), 0);
  std::vector<FunctionId> work;
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    if (has_step_loop(id)) work.push_back(id);
  }
  for (size_t i = 0; i < work.size(); ++i) {
    for (const uint32_t e : graph_.callers(work[i])) {
      const Edge& edge = graph_.edges()[e];
      const CallFacts& call = *edge.call;
      // model.train() is mostly torch's.
      const bool known = call.form == CallForm::function || call.form == CallForm::self_method ||
                         call.receiver != 0;
      if (call.form == CallForm::reference || !known || runs_epochs_[edge.from] != 0 ||
          is_batch_loop(edge.from, call.loop))
        continue;
      runs_epochs_[edge.from] = 1;
      work.push_back(edge.from);
    }
  }
}

bool Contexts::has_step_loop(FunctionId id) const {
  const FileFacts& file = graph_.file(id);
  const auto& marks = step_loops_[graph_.file_index(id)];
  for (uint32_t l = 0; l < file.loops.size(); ++l) {
    if (file.loops[l].function == graph_.index_in_file(id) && marks[l] != 0) return true;
  }
  return false;
}

/// fit(), called in each round of a trainer: it has the loop over batches, and what stands around
/// that loop runs once a round.
bool Contexts::is_around_own_steps(FunctionId id) const {
  if (whole_step_[id] != 0) return false;
  const FileFacts& file = graph_.file(id);
  const auto& marks = step_loops_[graph_.file_index(id)];
  for (uint32_t l = 0; l < file.loops.size(); ++l) {
    const LoopFacts& loop = file.loops[l];
    // Of one that only sums up gradients, what stands around it is the rest of the step.
    const bool accumulates = loop.backward && !loop.optimizer_step;
    if (loop.function == graph_.index_in_file(id) && marks[l] != 0 && loop.over_batches &&
        !accumulates)
      return true;
  }
  return false;
}

/// `with torch.no_grad(): for x, y in test_loader: model(x)` beside the loop over steps.
bool Contexts::is_evaluation_loop(FunctionId function, uint32_t loop) const {
  if (!has_step_loop(function) && runs_epochs_[function] == 0) return false;
  const FileFacts& file = graph_.file(function);
  for (uint32_t at = loop; at != kNone; at = file.loops[at].parent) {
    const LoopFacts& l = file.loops[at];
    if (l.over_batches && l.runs_model && l.without_grad && !l.generates && !l.comprehension)
      return true;
  }
  return false;
}

uint16_t Contexts::at(FunctionId function, uint32_t loop) const {
  uint16_t bits = bits_[function];
  if (step_loop(function, loop) != kNone) return static_cast<uint16_t>((bits & kInJit) | kInStep);
  if (is_evaluation_loop(function, loop)) return kInEval | kEvalLoop;
  // Rollouts of a trainer generate in every step.
  if ((bits & kInInference) != 0 && (bits & kNearStep) != 0) bits |= kInStep;
  if ((bits & kInStep) == 0 ? has_step_loop(function) : is_around_own_steps(function)) {
    // Before or behind the loop, whoever calls it.
    if (loop == kNone) bits &= kInJit;
    bits &= static_cast<uint16_t>(~kInStep);
    return static_cast<uint16_t>(bits | kOutside);
  }
  return bits;
}

std::vector<std::string> Contexts::chain(FunctionId function, uint32_t loop, uint16_t bit) const {
  std::vector<std::string> out;
  const auto position = static_cast<size_t>(std::countr_zero(bit));
  FunctionId at = function;
  uint32_t at_loop = loop;
  for (int hop = 0; hop < 12; ++hop) {
    const FileFacts& file = graph_.file(at);
    uint32_t step = step_loop(at, at_loop);
    if (step != kNone) {
      out.push_back("in the loop at " + file.path + ":" +
                    std::to_string(file.loops[step].first_line));
      break;
    }
    uint32_t edge = from_[position][at];
    if (edge == 0) {
      const FunctionFacts& f = graph_.function(at);
      if (bit == kInStep) out.push_back(f.qualified + "() runs one training step");
      if (bit == kInForward) out.push_back(f.qualified + "() is a forward pass");
      break;
    }
    const Edge& e = graph_.edges()[edge - 1];
    out.push_back("called from " + graph_.function(e.from).qualified + "() at " +
                  graph_.file(e.from).path + ":" + std::to_string(e.call->line));
    at = e.from;
    at_loop = e.call->loop;
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace stallscope
