// From an instruction to its line, by the tables that CPython keeps with code.
#pragma once

#include <cstdint>
#include <span>

#include "trace/python_layout.h"

namespace stallscope {

/// The line of the instruction at `unit` (in code units of two bytes), or 0
/// when the table is damaged, ends before it, or says that it has none.
uint32_t python_line(LineTable format, std::span<const uint8_t> table, int64_t first_line,
                     int64_t unit);

}  // namespace stallscope
