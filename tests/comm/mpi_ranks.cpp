// One rank of an MPI job: started by the test under each launcher.
#include <cstdio>

#include "checks.h"

int main() {
  using namespace stallscope::comm;
  auto c = make_mpi();
  if (!c.ok()) {
    std::fprintf(stderr, "%s\n", c.error().to_string().c_str());
    return 2;
  }
  const std::string wrong = check_all(**c);
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 1;
  }
  if ((*c)->rank() == 0) std::printf("collectives agree on %d ranks\n", (*c)->size());
  return 0;
}
