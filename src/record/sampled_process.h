// One process whose Python stacks are sampled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "record/native_frames.h"
#include "record/python_stacks.h"
#include "trace/sample_file.h"

namespace stallscope {

/// Samples all Python threads of a process into its file.
class SampledProcess {
 public:
  /// `native` is shared by all processes: whether native functions are looked for at all.
  /// `path` is the file, which must be its own: its stacks are numbered from 0.
  SampledProcess(pid_t pid, const PythonRuntime& runtime, std::string path,
                 NativePermission& native);
  ~SampledProcess();
  SampledProcess(SampledProcess&&) = default;
  SampledProcess& operator=(SampledProcess&&) = delete;

  /// Whether the process has become another program by exec, or its number is another's now.
  bool is_replaced() const;
  /// Looks for threads that have come and gone.
  void refresh_threads();
  /// Takes one sample of each thread at `now`. A sample lasts until the next
  /// one of its thread, at most `longest`. Returns how many were written.
  /// With `ask_native`, the native functions below Python are asked for too.
  size_t sample(Ns now, Ns longest, bool ask_native);
  /// Not recorded for now: the next sample begins anew.
  void rest();
  void flush();
  /// The source files of all stacks so far.
  const std::set<std::string>& files() const { return files_; }

 private:
  struct Thread {
    PythonThread thread;
    int schedule_file = -1;                  ///< /proc/PID/task/TID/schedstat, kept open
    uint64_t on_cpu_ns = 0, delayed_ns = 0;  ///< when it was last looked at
    bool has_lock = false;                   ///< Python's, when the stack was taken
    int syscall_file = -1;                   ///< /proc/PID/task/TID/syscall, once it was needed
    bool waits_for_lock = false;             ///< when the stack was taken
    pid_t lock_holder = 0;                   ///< while it waits: who has it; 0 = unknown
    bool seen = false;                       ///< the next fields hold a sample
    Ns start = 0;
    uint32_t stack = 0;
    uint64_t frames_hash = 0;  ///< of the known stack
    uint64_t instruction = 0;  ///< of the innermost frame, in memory
    bool has_stack = false;
    NativeLook native;
  };
  /// What asking for native functions at a Python instruction has given.
  struct NativeAnswers {
    uint32_t asked = 0, named = 0;
    /// Most instructions of a busy program call nothing outside the interpreter, and asking
    /// interrupts the CPU that runs it: those that never gave a name are asked seldom.
    bool worth_asking() {
      constexpr uint32_t kTries = 12, kSeldom = 4, kHardly = 16;
      return named > 0 || asked < kTries ||
             ++skipped % (asked < 2 * kTries ? kSeldom : kHardly) == 0;
    }
    uint32_t skipped = 0;
  };
  /// What the kernel's scheduler says of a thread since the last look.
  struct CpuUse {
    bool known = false;
    uint64_t on_cpu_ns = 0, delayed_ns = 0;
  };
  /// A stack that was written, by the hash of its frames.
  struct KnownStack {
    std::vector<PythonFrame> key;
    std::vector<uint32_t> frames;  ///< as numbered in the file
    uint32_t stack = 0;
  };
  static CpuUse cpu_use(Thread& thread);
  /// Whether it has the interpreter's lock, as far as is known.
  bool has_lock(const Thread& thread);
  /// Whether the thread sleeps until another one gives Python's lock away, and which.
  void look_for_lock(Thread& thread, bool has_run);
  static void close_files(Thread& thread);
  static SampleState state_of(const Thread& thread, const CpuUse& use, Ns period);
  bool take_stack(Thread& thread);
  /// The stack with the native functions below it, where they are known.
  uint32_t whole_stack(Thread& thread, const CpuUse& use, Ns now, bool ask_native);

  uint32_t native_frame(const NativeFunction& function);

  pid_t pid_;
  std::string program_;
  PythonStacks stacks_;
  SampleWriter writer_;
  std::string path_;
  NativeFrames native_;
  std::set<std::string> files_;
  std::map<pid_t, Thread> threads_;
  std::unordered_map<uint64_t, KnownStack> known_stacks_;
  std::unordered_map<uint64_t, uint32_t> whole_stacks_;
  std::unordered_map<uint64_t, NativeAnswers> native_answers_;  ///< by instruction
  std::map<std::pair<const NativeModule*, uint64_t>, uint32_t> native_frames_;
};

}  // namespace stallscope
