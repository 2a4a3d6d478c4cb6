// Facts about this machine and this run that a reader of the report needs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stallscope {

/// "cpu.model", "cpu.cores", "memory.bytes", "kernel", "os", "host", "clock.tsc",
/// "python" (of the interpreter that `command` runs, when it is one), ...
std::map<std::string, std::string> machine_facts(const std::vector<std::string>& command);

/// True when the CPU's time-stamp counter runs at one rate in every power state.
bool tsc_is_constant();

/// The path of `program` as execvp would find it; empty when there is none.
std::string find_program(const std::string& program);

}  // namespace stallscope
