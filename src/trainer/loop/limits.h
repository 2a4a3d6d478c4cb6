// What this process may use of the machine.
#pragma once

namespace stallscope::trainer {

/// Processors: those it may run on, fewer under a CPU quota of its control group; at least 1.
int cpu_limit();

/// Bytes of memory it can still take, less under a memory limit of its control group.
double memory_limit();

}  // namespace stallscope::trainer
