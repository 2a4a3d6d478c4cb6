#include "source/facts/vocabulary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "source/facts/value.h"

namespace stallscope {
namespace {

constexpr std::array<std::pair<std::string_view, Context>, 11> kContexts = {{
    {"step", Context::step},
    {"forward", Context::forward},
    {"loop", Context::loop},
    {"init", Context::init},
    {"eval", Context::eval},
    {"jit", Context::jit},
    {"library", Context::library},
    {"epoch", Context::epoch},
    {"launcher", Context::launcher},
    {"allocator", Context::allocator},
    {"any", Context::any},
}};

}  // namespace

const std::vector<GuardWord>& guard_words() {
  static const std::vector<GuardWord> words = {
      {"guarded-by-interval", kGuardInterval,
       "under `step % n`, a log interval or a sampled timer"},
      {"evaluation-only", kGuardEvaluation, "reached only from evaluation or generation"},
      {"host-value", kGuardHostValue, "the value is provably a CPU tensor, NumPy or Python value"},
      {"cached", kGuardCached, "computed once: buffer, __init__, lru_cache, keyed dict, is None"},
      {"outside-step", kGuardOutsideStep, "not executed in every step"},
      {"in-jit", kGuardJit, "inside torch.compile, jax.jit or scan"},
      {"test-or-benchmark", kGuardTest, "in tests, benchmarks and examples of timing"},
      {"rank-zero", kGuardRankZero, "done by one rank only"},
      {"error-path", kGuardErrorPath, "on the way to an exception or exit"},
      {"debug-flag", kGuardDebug, "under a debug or verbose flag, or for a viewer"},
      {"checkpoint-only", kGuardCheckpoint, "reached only from saving or loading"},
      {"no-visible-caller", kGuardLibrary, "nothing in the project calls it and no framework does"},
      {"no-visible-use", kGuardNoUse,
       "nothing in the project calls it, and neither its class nor its name says that a step does"},
      {"not-given", kGuardNotGiven, "under `if argument is None`: callers can hand the value in"},
      {"for-environment", kGuardEnvironment,
       "observations from or actions for an environment that lives on the host"},
      {"prefetched", kGuardPrefetched, "a loader of the project fetches ahead"},
      {"asynchronous", kGuardAsynchronous,
       "JAX hands out steps without waiting: the device works on the last one meanwhile"},
      {"cpu-branch", kGuardCpuBranch, "under a test for running on the CPU"},
      {"behind-calls", kGuardBehindCalls,
       "in a forward pass, in what the step calls or in a loop of no step: code alone shows "
       "little"},
      {"loop-of-no-step", kGuardNoStepLoop,
       "in a loop that no step is seen to reach: more often one over buffers or devices"},
  };
  return words;
}

std::string_view meaning_of_guard(std::string_view name) {
  if (name == kOptionOff) return "under an option that nothing in the project turns on";
  if (name == kSpare)
    return "its file is called a copy or an old version, which mostly nothing builds or imports";
  if (name == kUnreached)
    return "no step of the program is seen to reach it: what it has there runs beside its steps as "
           "often as in them";
  if (name == kNoDevice)
    return "no file of the program names a device: as it stands, its tensors are on the host";
  if (name == kGenerates)
    return "the program generates text with weights that were trained elsewhere: it trains nothing";
  if (name == kUnnamed)
    return "no file of the program names this function, other than to declare it";
  const auto word = std::ranges::find(guard_words(), name, &GuardWord::name);
  return word == guard_words().end() ? name : word->meaning;
}

const std::vector<KindWord>& kind_words() {
  static const std::vector<KindWord> words = {
      {"tensor", {Kind::device_tensor, Kind::mask, Kind::parameter, Kind::jax_array}},
      {"device-tensor", {Kind::device_tensor, Kind::mask, Kind::parameter}},
      {"mask", {Kind::mask}},
      {"host-tensor", {Kind::host_tensor}},
      {"fresh-tensor", {Kind::host_tensor}, kFresh},
      {"host-data-tensor", {Kind::host_tensor}, kFromHost},
      {"host-made-tensor", {Kind::host_tensor}, kFresh | kFromHost},
      {"built-tensor", {Kind::device_tensor, Kind::mask, Kind::host_tensor}, kFresh},
      {"read-back-tensor", {Kind::host_tensor}, 0, 0xff},
      {"kept-host-tensor", {Kind::host_tensor}, kAttribute},
      {"parameter-value", {Kind::device_tensor, Kind::mask, Kind::parameter}, kParameterLoop},
      {"batch", {Kind::batch}},
      {"numpy", {Kind::numpy}},
      {"number", {Kind::number}},
      {"list", {Kind::list}},
      {"tensor-list", {Kind::tensor_list}},
      {"parameter", {Kind::parameter}},
      {"parameters", {Kind::parameters}},
      {"module", {Kind::module}},
      {"optimizer", {Kind::optimizer}},
      {"loader", {Kind::loader}},
      {"stream", {Kind::stream}},
      {"jax-array", {Kind::jax_array}},
      {"device-vector", {Kind::device_vector}},
      {"host",
       {Kind::host_tensor, Kind::numpy, Kind::number, Kind::text, Kind::none, Kind::other,
        Kind::list, Kind::host_tensors, Kind::shape, Kind::device, Kind::batch}},
  };
  return words;
}

const KindWord* kind_of(std::string_view word) {
  for (const KindWord& entry : kind_words()) {
    if (entry.name == word) return &entry;
  }
  return nullptr;
}

std::optional<Context> context_of(std::string_view word) {
  const auto* found =
      std::ranges::find(kContexts, word, &std::pair<std::string_view, Context>::first);
  return found == kContexts.end() ? std::nullopt : std::optional(found->second);
}

std::string_view to_string(Context context) {
  return std::ranges::find(kContexts, context, &std::pair<std::string_view, Context>::second)
      ->first;
}

}  // namespace stallscope
