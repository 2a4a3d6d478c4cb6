// The native functions that sampled threads run below their innermost Python
// frame: asked for when the Python stack is read, taken at the next sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/native_walk.h"
#include "record/thread_moment.h"

namespace stallscope {

/// Whether the kernel lets us look, for all processes of a run.
struct NativePermission {
  bool wanted = true;
  bool running = true;  ///< at threads that run; sleeping ones need nothing but their memory
  std::string reason;   ///< why not, one sentence
  /// Each needs a descriptor and locked memory, which an ordinary user has little of.
  size_t open_moments = 0, most_moments = 64;
  uint64_t named = 0;  ///< times that native functions were found
};

/// One thread's part.
struct NativeLook {
  std::unique_ptr<ThreadMoment> moment;
  Ns asked = 0;                ///< 0 = not
  bool looked_asleep = false;  ///< once is enough: it stays where it is
  std::vector<NativeFunction> asleep;
};

class NativeFrames {
 public:
  NativeFrames(pid_t pid, uint64_t runtime, NativePermission& permission)
      : pid_(pid), walk_(pid, runtime), permission_(permission) {}

  /// The thread has run since the last look: what was known of it is old.
  static void ran(NativeLook& look);
  /// Asks where a thread that has just run is.
  void ask(pid_t tid, NativeLook& look, Ns now);

  /// What was asked for last, if it shows the thread in a call of the Python instruction at
  /// `instruction`: the Python stack was read a moment earlier or later, and may be of another
  /// call. Innermost first; empty when there is nothing, or nothing certain.
  std::span<const NativeFunction> running(NativeLook& look, uint64_t instruction, Ns now);

  /// The same for a thread that has slept since the last look: looked for once, if `ask`.
  std::span<const NativeFunction> asleep(pid_t tid, NativeLook& look, uint64_t instruction, Ns now,
                                         bool ask);

  void forget(NativeLook& look);

 private:
  pid_t pid_;
  NativeWalk walk_;
  NativePermission& permission_;
  std::vector<uint8_t> stack_;
};

}  // namespace stallscope
