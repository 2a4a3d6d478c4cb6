// Stacks at begun ranges: which calls, and under which number.
#pragma once

#include <stdint.h>

namespace stallscope::collect {

struct Thread;

/// When a range's stack is taken.
enum StackPolicy : uint8_t {
  kNoStack,
  kStackAlways,  ///< a host-blocking call
  kStackLaunch,  ///< a call that starts work: launch, copy, allocation, collective
};

/// Prepares the tables and the unwinder. Once per program.
bool prepare_stacks();

/// The number of the calling thread's stack; 0 when there is none.
uint32_t take_stack(Thread& thread, uint8_t policy);

}  // namespace stallscope::collect
