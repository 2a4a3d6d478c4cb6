// The objects mapped into the process: for naming addresses offline, and for
// unwinding here.
#pragma once

#include "collect/session.h"
#include "trace/unwind_table.h"

namespace stallscope::collect {

/// Defines every loaded object not yet defined: path, bias, code, build id.
void note_modules(Session& session);

/// The tables of the object whose code holds `address`; all zero when unknown.
UnwindObject object_at(uint64_t address);

/// Counts unloaded objects: what was learned about addresses is stale when it changes.
uint32_t unload_count();

}  // namespace stallscope::collect
