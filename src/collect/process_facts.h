// What a segment's header says about its process.
#pragma once

#include "collect/session.h"

namespace stallscope::collect {

/// Process ids, start time, rank by any launcher, host and command line.
void describe_process(segment::FileHeader& header);

/// When this program replaced another in the same process (exec), says so in
/// the other's file, so that it is not taken for a killed one.
void mark_replaced_program(const Session& session);

/// False where one more thread would be seen by the program: CPython 3.12 warns
/// at fork() when a process that looks single-threaded is not.
bool may_start_thread();

}  // namespace stallscope::collect
