#include "random_trace.h"

#include <array>
#include <random>

namespace stallscope {

Trace random_trace(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t n) { return static_cast<Ns>(random() % n); };
  Trace trace;
  const uint32_t process = trace.add_process({.pid = 1});
  const auto name = [&trace](std::string_view text) { return trace.strings.intern(text); };
  const std::array<TrackId, 2> threads = {trace.track(process, TrackKind::thread, -1, 1),
                                          trace.track(process, TrackKind::thread, -1, 2)};
  const int devices = 1 + static_cast<int>(below(2));
  constexpr Ns kStep = 200;
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps; ++step)
    trace.add({.kind = EventKind::range,
               .start = step * kStep,
               .duration = kStep - below(20),
               .track = threads[0],
               .name = name("step " + std::to_string(step))});
  // Few distinct times, so that events often touch.
  const auto add_host = [&](EventKind kind, uint8_t detail, std::string_view text) {
    trace.add({.kind = kind,
               .detail = detail,
               .start = below(kSteps * kStep / 5) * 5,
               .duration = below(8) * 5,
               .track = threads[static_cast<size_t>(below(2))],
               .name = name(text)});
  };
  const int extras = static_cast<int>(below(12));
  for (int i = 0; i < extras; ++i) {
    add_host(EventKind::overhead, 0, "buffer request");
    add_host(EventKind::range, 0, "get_batch");
    add_host(EventKind::api, static_cast<uint8_t>(ApiCall::stream_sync), "cudaStreamSynchronize");
    add_host(EventKind::api, static_cast<uint8_t>(ApiCall::copy_blocking), "cudaMemcpy");
    add_host(EventKind::api, static_cast<uint8_t>(ApiCall::free),
             below(2) ? "cudaFree" : "cudaFreeAsync");
    add_host(EventKind::sync, static_cast<uint8_t>(below(5)), "sync");
    add_host(EventKind::api, 0, "cudaGetDevice");
  }
  const int launches = 40 + static_cast<int>(below(80));
  for (int i = 1; i <= launches; ++i) {
    const bool copies = below(5) == 0;
    const Ns start = below(kSteps * kStep), duration = 1 + below(12);
    const auto correlation = static_cast<uint32_t>(below(20) == 0 ? i - 1 : i);
    if (below(15) != 0)  // some launches were not recorded
      trace.add({.kind = EventKind::api,
                 .detail = static_cast<uint8_t>(copies ? ApiCall::copy : ApiCall::launch),
                 .start = start,
                 .duration = duration,
                 .track = threads[static_cast<size_t>(below(2))],
                 .name = name(copies ? "cudaMemcpyAsync" : "cudaLaunchKernel"),
                 .correlation = correlation});
    constexpr std::array<std::string_view, 3> kMemory = {"pageable", "pinned", "device"};
    const std::array<Field, 1> memory = {
        Field::of_text(below(2) ? kKeySourceMemory : kKeyTargetMemory,
                       name(kMemory[static_cast<size_t>(below(3))]))};
    const auto kind = copies          ? below(4) ? EventKind::memcpy : EventKind::memset
                      : below(6) == 0 ? EventKind::collective
                                      : EventKind::kernel;
    trace.add({.kind = kind,
               .detail = static_cast<uint8_t>(kind == EventKind::memcpy ? below(4) : 0),
               .start = start + below(30) - 3,
               .duration = below(12),
               .track = trace.track(process, TrackKind::stream,
                                    static_cast<int32_t>(below(devices)), 7 + below(3)),
               .name = name(below(6) == 0 ? "NCCLKernel_AllReduce" : "gemm"),
               .correlation = correlation,
               .payload = copies && below(2) ? trace.add_payload(memory) : 0});
  }
  trace.finish();
  return trace;
}

}  // namespace stallscope
