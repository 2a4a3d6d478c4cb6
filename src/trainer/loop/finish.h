// How a run ends.
#pragma once

#include "base/result.h"
#include "trainer/device/device.h"

namespace stallscope::trainer {

/// Prints the error and ends the process with code 2.
[[noreturn]] void stop(const Error& error);

/// Waits for all work; prints "loss X" on rank 0, or what went wrong. Returns the exit code.
int finish_run(Device& device, int rank, const float* loss);

}  // namespace stallscope::trainer
