// The native functions below a thread's innermost Python frame, from a copy of
// its registers and of the top of its stack.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "record/native_modules.h"

namespace stallscope {

/// A thread at one instant.
struct StackCopy {
  uint64_t instruction = 0, stack = 0;
  std::optional<uint64_t> frame;   ///< the frame pointer register, where it is known
  std::span<const uint8_t> bytes;  ///< what lies at `stack` and above

  /// True when a word of the copy lies in [first, last]: of the stack, or one of `registers`.
  bool mentions(uint64_t first, uint64_t last, std::span<const uint64_t> registers) const;
};

/// A function of an object, by where it begins in the object's file.
struct NativeFunction {
  const NativeModule* module = nullptr;
  uint64_t address = 0;
  bool operator==(const NativeFunction&) const = default;
};

class NativeWalk {
 public:
  NativeWalk(pid_t pid, uint64_t runtime) : modules_(pid, runtime) {}

  /// Innermost first, up to the interpreter's own code, which stands for the Python frame. Empty
  /// where the thread runs the interpreter itself (and what that calls of the C library), or code
  /// that no object has. What lies beyond a frame that cannot be crossed is left out.
  const std::vector<NativeFunction>& functions(const StackCopy& copy, Ns now);

  static constexpr size_t kMostFunctions = 48;

 private:
  struct Known {
    const NativeModule* module = nullptr;
    UnwindRule rule;
  };
  Known known_at(uint64_t address, Ns now);

  NativeModules modules_;
  uint32_t generation_ = 0;
  std::unordered_map<uint64_t, Known> known_;
  std::vector<NativeFunction> functions_;
};

}  // namespace stallscope
