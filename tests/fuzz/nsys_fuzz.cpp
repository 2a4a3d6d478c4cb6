// Whatever bytes are given as a nsys trace: an error or a trace, never a crash.
#include "fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stallscope::test::read_with("nsys", data, size);
  return 0;
}
