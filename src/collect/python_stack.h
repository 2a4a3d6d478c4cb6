// The calling thread's Python frames, read without taking the GIL.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stallscope::collect {

inline constexpr size_t kMaxPythonFrames = 64;

/// Looks for an interpreter that this can read: CPython 3.8 to 3.14, not
/// free-threaded. Cheap once one was found; called when a thread is first seen.
void look_for_python();

/// Frames as the segment keeps them (kPythonFrame), innermost first; 0 when the
/// thread runs no Python or its interpreter is not one this can read.
size_t walk_python(uint64_t (&frames)[kMaxPythonFrames]);

}  // namespace stallscope::collect
