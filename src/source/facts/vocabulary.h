// The words a rule's source condition may use. One table each, so that reading
// rules, matching them and listing them cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stallscope {

/// What silences or lowers a match: one bit each (G1 to G7 of the catalogue and kin).
enum Guard : uint32_t {
  kGuardInterval = 1u << 0,       ///< G1: under `step % n`, a log interval, a sampled timer
  kGuardEvaluation = 1u << 1,     ///< G2: reached only from evaluation
  kGuardHostValue = 1u << 2,      ///< G3: the value is provably on the host
  kGuardCached = 1u << 3,         ///< G4: computed once and kept
  kGuardOutsideStep = 1u << 4,    ///< G5: not in the step
  kGuardJit = 1u << 5,            ///< G6: inside jit or compile
  kGuardTest = 1u << 6,           ///< G7: tests and benchmarks
  kGuardRankZero = 1u << 7,       ///< only one rank does it
  kGuardErrorPath = 1u << 8,      ///< on the way to raise or exit
  kGuardDebug = 1u << 9,          ///< under a debug or verbose flag
  kGuardCheckpoint = 1u << 10,    ///< reached only from saving or loading
  kGuardLibrary = 1u << 12,       ///< no caller in the project and no entry point
  kGuardNotGiven = 1u << 13,      ///< under `if argument is None`: callers can hand it in
  kGuardEnvironment = 1u << 14,   ///< observations from, or actions for, an environment
  kGuardPrefetched = 1u << 15,    ///< a loader of the project fetches ahead
  kGuardNoUse = 1u << 16,         ///< no caller, and nothing says that training uses it
  kGuardBehindCalls = 1u << 17,   ///< run by the step, but not what the step itself does
  kGuardNoStepLoop = 1u << 18,    ///< in a loop that no step is seen to reach
  kGuardLeavesLoop = 1u << 19,    ///< the last thing that the loop around it does
  kGuardAsynchronous = 1u << 20,  ///< JAX: the device works on the last step meanwhile
  kGuardCpuBranch = 1u << 11,     ///< under `if device == "cpu"` or `if not cuda.is_available()`
};

struct GuardWord {
  std::string_view name;
  Guard guard;
  std::string_view meaning;
};
const std::vector<GuardWord>& guard_words();

/// What every such place is lowered for, whatever its rule says.
inline constexpr std::string_view kOptionOff = "option-off";
/// And where no file of a program of C++ names the function.
inline constexpr std::string_view kUnnamed = "unnamed";
/// Guard: the file is called a copy or an old version of another.
inline constexpr std::string_view kSpare = "spare-file";
/// Guard: no step of a program of C++ is seen to reach the place.
inline constexpr std::string_view kUnreached = "unreached";
/// Guard: the program is one of LibTorch's that names no device.
inline constexpr std::string_view kNoDevice = "no-device";
/// Guard: the program of C++ generates text and trains nothing.
inline constexpr std::string_view kGenerates = "generates";

/// What a guard of a finding means, also of those that rules cannot name; itself if it is none.
std::string_view meaning_of_guard(std::string_view name);

/// What kind of value an expression has.
enum class Kind : uint8_t {
  unknown,
  device_tensor,  ///< a tensor whose device is the accelerator or not known
  mask,           ///< a boolean device tensor
  host_tensor,
  numpy,
  number,  ///< Python number or bool
  text,
  none,
  other,         ///< any other host object
  list,          ///< a container of host objects
  host_tensors,  ///< a container of host tensors
  tensor_list,
  parameter,
  parameters,  ///< an iterable of parameters
  module,
  optimizer,
  loader,
  batch,  ///< what a loader yields: host tensors
  shape,
  device,
  stream,
  jax_array,
  device_vector,  ///< of Thrust
  tensor_dict,    ///< tensors on the device by name
};

struct KindWord {
  std::string_view name;
  std::vector<Kind> kinds;
  uint8_t flags = 0;    ///< ValueFlag bits of which one must be set too
  uint8_t without = 0;  ///< and those of which none may be
};
/// "tensor", "device-tensor", "numpy", ...
const std::vector<KindWord>& kind_words();
/// The entry of `word`; null when it is not a kind.
const KindWord* kind_of(std::string_view word);

/// Contexts a rule may ask for.
enum class Context : uint8_t {
  step,
  forward,
  loop,
  init,
  eval,
  jit,
  epoch,  ///< in a loop around the step loop, or called from one: once per epoch or round
  library,
  launcher,
  allocator,
  any
};
std::optional<Context> context_of(std::string_view word);
std::string_view to_string(Context context);

}  // namespace stallscope
