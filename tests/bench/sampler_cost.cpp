// Samples a process that runs Python, without a budget: what one sample costs.
//   sampler_cost PID RATE SECONDS [NATIVE]    prints "SAMPLES CPU-SECONDS NAMED", the search for
//   Python included; NAMED samples got native functions, none with NATIVE 0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "record/python_sampler.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: sampler_cost PID RATE SECONDS [NATIVE]\n", stderr);
    return 2;
  }
  const auto folder =
      std::filesystem::temp_directory_path() / ("sampler-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  stallscope::PythonSampler sampler({.folder = folder,
                                     .rate_hz = static_cast<uint32_t>(std::atoi(argv[2])),
                                     .budget = 1.0,
                                     .native = argc < 5 || std::atoi(argv[4]) != 0});
  sampler.start(std::atoi(argv[1]));
  ::usleep(static_cast<useconds_t>(std::atof(argv[3]) * 1e6));
  const stallscope::SamplerResult result = sampler.stop();
  std::printf("%llu %.6f %llu\n", static_cast<unsigned long long>(result.samples),
              result.cpu_seconds, static_cast<unsigned long long>(result.native_looks));
  for (const std::string& note : result.notes) std::fprintf(stderr, "%s\n", note.c_str());
  std::filesystem::remove_all(folder);
  return result.samples > 0 ? 0 : 1;
}
