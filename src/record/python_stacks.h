// The stacks of all Python threads of another process.
#pragma once

#include <algorithm>
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
  bool shares_lock = true;  ///< with the main interpreter, which from 3.12 on others need not
  /// States of the same thread in the interpreters from which it entered this one, innermost first.
  std::vector<uint64_t> entered_from;

  bool has(uint64_t other) const {
    return state == other ||
           std::find(entered_from.begin(), entered_from.end(), other) != entered_from.end();
  }
};

/// One level of a stack, as numbers that stay the same from sample to sample.
struct PythonFrame {
  uint64_t code = 0;  ///< address of the code object
  int64_t unit = 0;   ///< instruction, in code units from the code's begin
  bool operator==(const PythonFrame&) const = default;
};

/// What a code object says; texts in UTF-8.
struct PythonCodeFacts {
  std::string function, file;
  int64_t first_line = 0;
  uint64_t name_address = 0, lines_address = 0;  ///< tell when another object took its place
  uint64_t instructions = 0;                     ///< address of the first
  uint64_t checked = 0;                          ///< the look in which it was last seen to be there
  std::vector<uint8_t> lines;
};

class PythonStacks {
 public:
  PythonStacks(pid_t pid, const PythonRuntime& runtime)
      : memory_(pid), runtime_(runtime), lock_(pid, runtime) {}

  /// Threads of all interpreters; empty while the interpreter is not ready, or ended.
  std::vector<PythonThread> threads() const;

  /// Begins another look at the process: what was read before is old.
  void begin_look() {
    lock_words_.reset();
    ++look_;
  }
  /// The thread state that held the interpreter's lock when the first stack of this look was
  /// taken, 0 when none did; nullopt when unknown.
  std::optional<uint64_t> lock_holder();
  /// True when a thread that sleeps on this futex waits for the interpreter's lock.
  bool is_lock(uint64_t futex) const { return lock_.is_waited_for_at(futex); }
  /// Looks for the lock among what belongs to these threads, unless it is known.
  void find_lock(const std::vector<PythonThread>& threads);

  /// Frames of a thread, innermost first, at most `kMaxFrames`. Empty when it
  /// runs no Python, or changed too much while it was read. Good until the next walk.
  const std::vector<PythonFrame>& walk(const PythonThread& thread);

  /// Name, file and line of a frame; cached by code object, checked on reuse.
  /// nullopt when the code object cannot be read or is none.
  struct Place {
    std::string function, file;
    uint32_t line = 0;
  };
  std::optional<Place> place(const PythonFrame& frame);

  /// Where the frame's instruction lies in memory; 0 when its place was never asked for.
  uint64_t instruction_address(const PythonFrame& frame) const;

  static constexpr size_t kMaxFrames = 256;

 private:
  struct FrameWords {
    uint64_t code, previous, instruction;
    uint8_t owner;
  };
  /// Where a thread's stack was found last: it is mostly there again, so that all of it and the
  /// lock are read by one call.
  struct Hint {
    uint64_t indirect = 0;  ///< what leads to the innermost frame, until 3.12
    uint64_t window = 0;    ///< begin of the piece of the data stack; 0 = none
    uint64_t bytes = 0;     ///< of that piece
    bool exact = false;     ///< no room is left above the innermost frame: memory ends there
    bool none = false;      ///< nor are all of the bytes below it there
  };
  /// The address of the innermost frame; 0 when there is none.
  uint64_t innermost(uint64_t state, Hint& hint);
  bool read_at_hint(uint64_t state, const Hint& hint, uint64_t& first, uint64_t& frame);
  /// Appends the frames of one thread state; false when it changed too much.
  bool walk_state(uint64_t state);
  bool walk_frames(uint64_t address, Hint& hint);
  std::optional<FrameWords> read_frame(uint64_t address);
  std::optional<PythonCodeFacts> read_code(uint64_t address);
  std::optional<std::string> read_text(uint64_t address) const;
  bool is_code(uint64_t address);
  std::optional<uint64_t> interpreter_head() const;
  pid_t tid_of(uint64_t state) const;  ///< 0 when it cannot be read
  uint64_t interpreter_next() const;   ///< offset
  uint64_t main_interpreter() const;   ///< 0 when there is none
  static void add(PythonThread thread, std::vector<PythonThread>& threads);

  RemoteMemory memory_;
  PythonRuntime runtime_;
  PythonLock lock_;
  uint64_t code_type_ = 0;  ///< address of PyCode_Type, once seen
  std::unordered_map<uint64_t, PythonCodeFacts> codes_;
  /// A piece of the data stack, copied in one read: neighbouring frames lie in it.
  std::vector<uint8_t> window_;
  uint64_t window_begin_ = 0;
  std::unordered_map<uint64_t, Hint> hints_;  ///< by thread state
  std::optional<PythonLock::Words> lock_words_;
  uint64_t look_ = 0;
  std::vector<PythonFrame> frames_;
};

}  // namespace stallscope
