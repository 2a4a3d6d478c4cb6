// What a file says about steps: calls to backward, optimiser steps and
// gradients, and the calls that link its functions to others.
#pragma once

#include "source/guards/guards.h"
#include "source/guards/switches.h"

namespace stallscope {

/// Fills calls, loop evidence and function evidence of `facts`.
void collect_calls(const Ast& ast, const Names& names, const Outline& outline,
                   const Inference& inference, const Guards& guards, Switches& switches,
                   FileFacts& facts);

}  // namespace stallscope
