// Stacks from nesting: a trace whose Python functions and operators are
// intervals says by their enclosing one another who called what.
#pragma once

#include "trace/trace.h"

namespace stallscope {

/// Gives each event of a host thread the stack of the Python functions and
/// operators around it, innermost first; such a range's own stack begins with
/// itself. A thread without Python functions (autograd's) gets, outside its own
/// operators, the stack of the Python thread that was inside backward() then; what a
/// backward operator does gets the Python calls of the forward operator it belongs to,
/// where their sequence numbers tell.
/// Collective kernels that say nothing about their message get the payload of
/// the operator that enclosed their launch. The trace must be finished.
void add_nesting_stacks(Trace& trace);

}  // namespace stallscope
