// Why a GPU runs slower than it could, by NVML's bits.
#pragma once

#include <cstdint>
#include <string>

namespace stallscope {

/// The bits of nvmlClocksEventReasons that slow a GPU down against its will, in words
/// ("power cap, thermal slowdown"); empty for idle, chosen clocks and none.
std::string slowdown_reasons(uint64_t bits);

}  // namespace stallscope
