// Independent pieces of work on the machine's cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace stallscope {

/// Calls body(i) for each i in [0, count), on up to one thread per core, and on at most `most`.
/// The result must not depend on the order. `body` must not throw.
template <typename Body>
void parallel_for(size_t count, const Body& body, size_t most = SIZE_MAX) {
  const size_t workers =
      std::min({count, most, size_t{std::max(1U, std::thread::hardware_concurrency())}});
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;) body(i);
  };
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
}

}  // namespace stallscope
