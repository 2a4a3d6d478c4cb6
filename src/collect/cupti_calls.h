// Which CUDA calls are recorded with their stacks, and which not at all.
#pragma once

#include "collect/cupti_library.h"

namespace stallscope::collect {

/// Has CUPTI call back at both ends of those calls, or no longer.
void trace_calls(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber, bool on);

/// Whether this is one of those calls, and CUPTI agreed to call back at it: its activity record
/// would be a duplicate.
bool is_traced(bool runtime, uint32_t cbid);

/// Whether a context ends with this call.
bool ends_context(bool runtime, uint32_t cbid);

/// Has CUPTI make no records of calls that come by the thousand and tell nothing.
void silence_calls(const CuptiLibrary& cupti);

}  // namespace stallscope::collect
