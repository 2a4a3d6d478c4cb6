// Whatever bytes are given as a segment, or as the records of one: an error or a
// trace, never a crash.
#include "collect/segment_harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stallscope::test::read_made_segment({data, size});
  stallscope::test::read_raw_segment({data, size});
  return 0;
}
