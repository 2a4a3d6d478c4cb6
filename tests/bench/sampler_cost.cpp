// Samples a process that runs Python, without a budget: what one sample costs.
//   sampler_cost PID RATE SECONDS [NATIVE]    prints "SAMPLES CPU-SECONDS NAMED WAKE-SECONDS", the
//   search for Python included; NAMED samples got native functions, none with NATIVE 0; a thread
//   that wakes RATE times a second and does nothing takes WAKE-SECONDS each time
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "record/python_sampler.h"
#include "record/side_thread.h"

namespace {

double wake_seconds(int rate) {
  constexpr int kWakes = 200;
  double seconds = 0;
  stallscope::SideThread idler("", [&](stallscope::SideThread& thread) {
    stallscope::Ns next = stallscope::clock_now(CLOCK_MONOTONIC);
    const stallscope::Ns before = stallscope::clock_now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < kWakes; ++i) thread.wait_until(next += 1'000'000'000 / rate);
    seconds =
        static_cast<double>(stallscope::clock_now(CLOCK_THREAD_CPUTIME_ID) - before) / 1e9 / kWakes;
  });
  ::usleep(static_cast<useconds_t>(kWakes * 1'200'000LL / rate));
  idler.stop();
  return seconds;
}

}  // namespace

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
  std::printf("%llu %.6f %llu %.9f\n", static_cast<unsigned long long>(result.samples),
              result.cpu_seconds, static_cast<unsigned long long>(result.native_looks),
              wake_seconds(std::atoi(argv[2])));
  for (const std::string& note : result.notes) std::fprintf(stderr, "%s\n", note.c_str());
  std::filesystem::remove_all(folder);
  return result.samples > 0 ? 0 : 1;
}
