// The calling thread's native frames, by the unwind tables; what was once read
// there is kept by address, so that a frame costs some nanoseconds after the
// first time.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stallscope::collect {

struct Thread;

inline constexpr size_t kMaxFrames = 96;

/// Prepares the table of rules. Once per program.
bool prepare_unwinding();

/// Return addresses from the recorder's caller outwards, at most kMaxFrames.
/// Code without tables (compiled at run time) is crossed by frame pointers,
/// each checked to lie in the thread's stack and to grow.
size_t walk_native(Thread& thread, uint64_t (&addresses)[kMaxFrames]);

}  // namespace stallscope::collect
