// The stacks of all Python threads of another process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/python_lock.h"
#include "record/python_runtime.h"
#include "record/remote_memory.h"

namespace stallscope {

/// A Python thread: its thread state, and the kernel's number for it.
struct PythonThread {
  uint64_t state = 0;
  pid_t tid = 0;
};

/// One level of a stack, as numbers that stay the same from sample to sample.
struct PythonFrame {
  uint64_t code = 0;  ///< address of the code object
  int64_t unit = 0;   ///< instruction, in code units from the code's begin
};

/// What a code object says; texts in UTF-8.
struct PythonCodeFacts {
  std::string function, file;
  int64_t first_line = 0;
  uint64_t name_address = 0, lines_address = 0;  ///< tell when another object took its place
  std::vector<uint8_t> lines;
};

class PythonStacks {
 public:
  PythonStacks(pid_t pid, const PythonRuntime& runtime)
      : memory_(pid), runtime_(runtime), lock_(pid, runtime) {}

  /// Threads of all interpreters; empty while the interpreter is not ready, or ended.
  std::vector<PythonThread> threads() const;

  /// The thread state that holds the interpreter's lock, 0 when none does; nullopt when unknown.
  std::optional<uint64_t> lock_holder() const { return lock_.holder(); }
  /// Looks for the lock among what belongs to these threads, unless it is known.
  void find_lock(const std::vector<PythonThread>& threads);

  /// Frames of a thread, innermost first, at most `kMaxFrames`. Empty when it
  /// runs no Python, or changed too much while it was read.
  std::vector<PythonFrame> walk(const PythonThread& thread);

  /// Name, file and line of a frame; cached by code object, checked on reuse.
  /// nullopt when the code object cannot be read or is none.
  struct Place {
    std::string function, file;
    uint32_t line = 0;
  };
  std::optional<Place> place(const PythonFrame& frame);

  static constexpr size_t kMaxFrames = 256;

 private:
  struct FrameWords {
    uint64_t code, previous, instruction;
    uint8_t owner;
  };
  std::optional<FrameWords> read_frame(uint64_t address);
  std::optional<PythonCodeFacts> read_code(uint64_t address);
  std::optional<std::string> read_text(uint64_t address) const;
  bool is_code(uint64_t address);
  std::optional<uint64_t> interpreter_head() const;

  RemoteMemory memory_;
  PythonRuntime runtime_;
  PythonLock lock_;
  uint64_t code_type_ = 0;  ///< address of PyCode_Type, once seen
  std::unordered_map<uint64_t, PythonCodeFacts> codes_;
  /// A piece of the data stack, copied in one read: neighbouring frames lie in it.
  std::vector<uint8_t> window_;
  uint64_t window_begin_ = 0;
};

}  // namespace stallscope
