// One CUPTI activity record as an event.
#pragma once

#include "collect/cupti_library.h"

namespace stallscope::collect {

/// Writes the event that `record` stands for; kinds without meaning here are left out.
void write_activity(const CuptiLibrary& cupti, const CUpti_Activity& record);

/// Adds records that CUPTI dropped to the session's count of lost ones.
void count_dropped(size_t records);

/// The string number of an API function's name, asked of CUPTI once per function.
uint32_t api_name(const CuptiLibrary& cupti, bool runtime, uint32_t cbid);

}  // namespace stallscope::collect
