// A sentence for the report: what could not be recorded, and what to do.
#pragma once

namespace stallscope::collect {

/// Notes `sentence` in the segment; the report shows it among its warnings.
void note(const char* sentence);

}  // namespace stallscope::collect
