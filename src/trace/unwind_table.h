// How to step from one native frame to its caller, by the unwind tables that
// every x86-64 object carries (.eh_frame, System V ABI; DWARF 5, section 6.4).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stallscope {

/// The caller's frame in terms of the callee's registers at one address. The
/// return address always lies 8 bytes below the frame's top (CFA).
struct UnwindRule {
  enum Kind : uint8_t {
    kUnknown,       ///< no table covers the address, or it says something unusual
    kEnd,           ///< the outermost frame
    kStackPointer,  ///< CFA = stack pointer + cfa_offset
    kFramePointer,  ///< CFA = frame pointer + cfa_offset
  };
  Kind kind = kUnknown;
  bool saves_frame_pointer = false;
  int32_t cfa_offset = 0;
  int32_t saved_at = 0;   ///< where the caller's frame pointer lies, from the CFA
  uint64_t function = 0;  ///< where the function (or its cold part) begins; 0 = unknown
};

/// A loaded object's tables. All reads stay between `begin` and `end`.
struct UnwindObject {
  uint64_t begin = 0;  ///< lowest mapped address
  uint64_t end = 0;
  uint64_t header = 0;  ///< address of .eh_frame_hdr; 0 = none
};

/// The rule at `address` (of an instruction, not a return address) in `object`.
UnwindRule find_rule(const UnwindObject& object, uint64_t address);

}  // namespace stallscope
