// The precision that a run multiplies its matrices in.
#pragma once

#include <string_view>

#include "trace/trace.h"

namespace stallscope {

/// "fp32", "tf32", "fp16", "bf16": what a kernel of matrix products says of its operands by its
/// name; empty when it says nothing.
std::string_view precision_in_name(std::string_view kernel);

/// The precision that most of the time in matrix products is spent in: by the names of kernels,
/// else by the recorded operand types of operators. Empty when neither tells.
std::string_view product_precision(const Trace& trace);

}  // namespace stallscope
