#include "trainer/loop/finish.h"

#include <cstdio>
#include <cstdlib>

namespace stallscope::trainer {

void stop(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  std::exit(2);
}

int finish_run(Device& device, int rank, const float* loss) {
  device.synchronize();
  if (const Status status = device.status(); !status.ok()) {
    std::fprintf(stderr, "rank %d: %s\n", rank, status.error().to_string().c_str());
    return 1;
  }
  if (rank == 0) std::printf("loss %.7f\n", static_cast<double>(*loss));
  return 0;
}

}  // namespace stallscope::trainer
