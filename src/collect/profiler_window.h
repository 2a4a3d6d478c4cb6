// The windows in which a profiler of the program's own measures: holes of the trace.
#pragma once

namespace stallscope::collect {

/// What is recorded from now on is not the program's usual pace, or lacks device work. `for_good`:
/// until the process ends; else until close_hole(). `reason` is part of a sentence.
void open_hole(const char* reason, bool for_good);
void close_hole();

}  // namespace stallscope::collect
