// Phases before the first steady step, by what the step thread's ranges, calls
// and samples say.
#include <algorithm>

#include "analyze/observe_parts.h"

namespace stallscope {
namespace {

bool mentions(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [name](std::string_view word) {
    return std::ranges::search(name, word, [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) == b;
           }).begin() != name.end();
  });
}

enum PhaseIndex : size_t { kImport, kCompilePhase, kFirstBatch, kModelBuild, kPhases };
constexpr std::string_view kNames[kPhases] = {"import", "compile", "first-batch", "model-build"};

bool names_file(std::string_view file, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [file](std::string_view part) { return file.find(part) != std::string_view::npos; });
}

// Code that only tracing, lowering and compiling run.
bool compiles(std::string_view file) {
  return names_file(
      file, {"torch/_dynamo/", "torch/_inductor/", "torch/_functorch/", "jax/_src/compiler.py",
             "jax/_src/interpreters/mlir.py", "jax/_src/interpreters/partial_eval.py"});
}

bool builds_model(std::string_view file, std::string_view function) {
  return names_file(file, {"torch/nn/init.py"}) ||
         (function.ends_with("__init__") && names_file(file, {"torch/nn/", "equinox/nn/"}));
}

// The outermost frames that say something decide: what compiling imports is compiling.
size_t phase_of_stack(const Trace& trace, StackId stack) {
  size_t phase = kPhases;
  for (FrameId id : trace.stack(stack)) {  // innermost first
    const Frame& frame = trace.frame(id);
    const std::string_view file = trace.text(frame.file);
    if (file.find("importlib") != std::string_view::npos) phase = kImport;
    if (builds_model(file, trace.text(frame.function))) phase = kModelBuild;
    if (compiles(file)) phase = kCompilePhase;
  }
  return phase;
}

// A range's phase by its name, of which a run has few: kPhases when it names none.
class PhaseOfRange {
 public:
  explicit PhaseOfRange(const RankContext& context)
      : context_(context), known_(context.trace.strings.size(), kUnknown) {}

  size_t operator()(StringId name) {
    if (known_[name] == kUnknown) known_[name] = static_cast<uint8_t>(look(name));
    return known_[name];
  }

 private:
  static constexpr uint8_t kUnknown = 0xff;

  size_t look(StringId id) const {
    const std::string_view name = context_.trace.text(id);
    const uint8_t nature = context_.natures[id];
    if (nature & kCompile) return kCompilePhase;
    if (nature & kInputWait) return kFirstBatch;
    if (mentions(name, {"import"})) return kImport;
    const bool makes = mentions(name, {"build", "init", "create", "load"});
    return makes && mentions(name, {"model", "weights"}) ? kModelBuild : kPhases;
  }

  const RankContext& context_;
  std::vector<uint8_t> known_;
};

size_t phase_of(const RankContext& context, EventId id, PhaseOfRange& phase_of_range) {
  const Trace& trace = context.trace;
  if (trace.kinds()[id] == EventKind::api)
    return static_cast<ApiCall>(trace.details()[id]) == ApiCall::module_load ? kCompilePhase
                                                                             : kPhases;
  if (trace.kinds()[id] == EventKind::sample) return phase_of_stack(trace, trace.stacks()[id]);
  return trace.kinds()[id] == EventKind::range ? phase_of_range(trace.names()[id]) : kPhases;
}

// How long a sample stands for when it has no length: until the next one, at most this.
constexpr Ns kLongestSample = 50'000'000;

}  // namespace

Ns end_of_imports(const Trace& trace, const HostThread& thread) {
  // Imports come in one piece, with little between them.
  constexpr Ns kBetween = 200'000'000;
  Ns end = trace.starts()[thread.first];
  for (EventId id = thread.first; id < thread.last && trace.starts()[id] <= end + kBetween; ++id)
    if (trace.kinds()[id] == EventKind::sample &&
        phase_of_stack(trace, trace.stacks()[id]) == kImport)
      end = std::max(end, trace.end(id));
  return end;
}

std::vector<StartupPhase> startup_phases(const RankContext& context) {
  const Trace& trace = context.trace;
  if (context.used.empty() || context.index.threads.empty()) return {};
  const Ns steady = context.steps[context.used.front()].host_start;
  const Ns first_step = std::min(context.steps.front().host_start, steady);
  const uint32_t at = context.marks.thread == kNoIndex ? 0 : context.marks.thread;
  const HostThread& thread = context.index.threads[at];
  if (thread.first == thread.last) return {};
  const Ns begin = std::min(trace.starts()[thread.first], first_step);

  std::vector<Interval> found[kPhases];
  EventId sample = kNoEvent;
  PhaseOfRange phase_of_range(context);
  for (EventId id = thread.first; id < thread.last && trace.starts()[id] < steady; ++id) {
    Ns from = trace.starts()[id], to = std::min(trace.end(id), steady);
    EventId what = id;
    if (trace.kinds()[id] == EventKind::sample) {
      std::swap(sample, what);  // the one before has lasted until now
      if (what == kNoEvent) continue;
      to = from;
      from = std::max(trace.starts()[what], to - kLongestSample);
    }
    const size_t phase = phase_of(context, what, phase_of_range);
    if (phase != kPhases && to > from) found[phase].push_back({from, to});
  }
  std::vector<StartupPhase> phases;
  Intervals claimed;
  for (size_t phase = 0; phase < kPhases; ++phase) {
    const Ns before = measure(claimed);
    claimed = unite(claimed, union_of(std::move(found[phase])));
    const Ns own = measure(claimed) - before;
    if (own > 0) phases.push_back({std::string(kNames[phase]), own});
  }
  const Ns warm_up = (steady - first_step) - overlap(claimed, first_step, steady);
  if (warm_up > 0) phases.push_back({"warm-up-steps", warm_up});
  const Ns rest = (first_step - begin) - overlap(claimed, begin, first_step);
  if (rest > 0) phases.push_back({"other", rest});
  return phases;
}

}  // namespace stallscope
