// Pinned staging memory that is reused once the copy out of it is done, as
// frameworks' caching host allocators do: the host never waits for the device.
#pragma once

#include <algorithm>
#include <deque>

#include "trainer/device/device.h"
#include "trainer/program/program.h"

namespace stallscope::trainer {

/// How many steps of a program the host may be ahead, until the stream's queue is full.
inline size_t steps_ahead(const Program& program) {
  return Stream::kDepth / std::max<size_t>(program.ops.size(), 1) + 2;
}

template <typename T>
class PinnedPool {
 public:
  PinnedPool(Device& device, size_t count) : device_(device), count_(count) {}

  /// Makes `slots` staging buffers, so that a loop that runs at most so far ahead allocates none.
  void reserve(size_t slots) {
    while (slots_.size() < slots)
      slots_.emplace_back(Slot{PinnedBuffer<T>(device_, count_), Event()});
  }

  /// Copies `host` to the device asynchronously through a free staging buffer.
  void upload(Stream& stream, T* device_target, const T* host) {
    Slot& slot = free_slot();
    std::copy(host, host + count_, slot.buffer.data());
    stream.copy_to_device_async(device_target, slot.buffer.data(), count_ * sizeof(T));
    stream.record(slot.copied);
  }

 private:
  struct Slot {
    PinnedBuffer<T> buffer;
    Event copied;
  };
  Slot& free_slot() {
    for (Slot& slot : slots_)
      if (slot.copied.query()) return slot;
    return slots_.emplace_back(Slot{PinnedBuffer<T>(device_, count_), Event()});
  }

  Device& device_;
  size_t count_;
  std::deque<Slot> slots_;
};

}  // namespace stallscope::trainer
