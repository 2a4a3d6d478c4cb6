// Runs one body per tensor-parallel rank, each on a thread with a device of its own.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "trainer/device/collectives.h"
#include "trainer/device/device.h"
#include "trainer/program/builder.h"

namespace stallscope::trainer {

/// Calls body(shard, device, group) on `size` threads; group is null for one rank.
inline void on_ranks(int size, const std::function<void(Shard, Device&, Group*)>& body) {
  auto ends = comm::make_thread_group(size);
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      Device device({.number = r});
      Group group(*ends[static_cast<size_t>(r)], device);
      body({r, size}, device, size > 1 ? &group : nullptr);
      device.synchronize();
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace stallscope::trainer
