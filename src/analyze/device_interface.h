// Whether a run's device work went to a GPU.
#pragma once

#include <string_view>

#include "trace/trace.h"

namespace stallscope {

/// "CUDA" or "HIP" where calls of that interface launched kernels; empty for a run without kernels
/// and for devices that announce their work themselves, as the reference trainer's does.
std::string_view device_interface(const Trace& trace);

}  // namespace stallscope
