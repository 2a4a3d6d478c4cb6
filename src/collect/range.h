// Ranges and instants as records: what NVTX calls come down to.
#pragma once

#include "collect/definitions.h"
#include "collect/thread.h"

namespace stallscope::collect {

/// Everything an event carries besides its times.
struct RangeText {
  SplitText text;
  uint32_t category = 0;
  uint32_t schema = 0;  ///< of the payload; 0 = none
  const void* payload = nullptr;
  uint32_t payload_bytes = 0;
  uint8_t domain = 0;
  uint8_t flags = 0;         ///< kManyPayloads
  uint8_t stack_policy = 0;  ///< StackPolicy
};

/// Begins a range on this thread; its depth in its domain, from 0.
int begin_range(const RangeText& what);

/// Ends the innermost range of a domain; the depth it had, or -1 when none is open.
/// `more` is a payload given at the end; nullptr for none.
int end_range(uint8_t domain, const RangeText* more);

/// An instant.
void mark(const RangeText& what);

/// A range that may end on another thread: its number, never 0.
uint64_t start_range(const RangeText& what);
void end_started_range(uint64_t number, const RangeText* more);

/// Measures what one range costs here and notes it in the header.
void measure_record_path(Session& session);

}  // namespace stallscope::collect
