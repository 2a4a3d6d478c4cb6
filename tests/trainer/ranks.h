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

/// Calls body(shard, device, group, replicas) on `replicas` times `tensor` threads, each with the
/// group of its shards and that of its replicas.
inline void on_grid(int tensor, int replicas,
                    const std::function<void(Shard, Device&, Group&, Group&)>& body) {
  auto ends = comm::make_thread_group(tensor * replicas);
  std::vector<std::thread> threads;
  for (int r = 0; r < tensor * replicas; ++r) {
    threads.emplace_back([&, r] {
      const int t = r % tensor, d = r / tensor;
      auto shards = ends[static_cast<size_t>(r)]->split(d);
      auto copies = ends[static_cast<size_t>(r)]->split(t);
      Device device({.number = r});
      Group group(**shards, device), data(**copies, device);
      body({t, tensor, d, replicas}, device, group, data);
      device.synchronize();
    });
  }
  for (auto& thread : threads) thread.join();
}

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
