// The slots of NCCL's open events, with threads that begin, read and end them at once. The thread
// sanitizer sees whether what is copied is synchronised; the fields, whether it is of one event.
#include "collect/nccl_slots.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using namespace stallscope;
using namespace stallscope::nccl;

namespace {

/// An event whose every field tells which one it is.
OpenEvent numbered(uint64_t number) {
  OpenEvent out;
  out.type = number;
  out.record.group = number;
  out.record.sequence = number;
  out.record.elements = number;
  out.record.bytes = 0;
  out.record.peer = static_cast<int>(number);
  out.record.start_ticks = number;
  out.parent = reinterpret_cast<void*>(number);
  out.channel = static_cast<int>(number);
  return out;
}

bool is_whole(const OpenEvent& event, uint64_t number) {
  return event.type == number && event.record.group == number && event.record.sequence == number &&
         event.record.elements == number && event.record.peer == static_cast<int>(number) &&
         event.record.start_ticks == number && event.parent == reinterpret_cast<void*>(number) &&
         event.channel == static_cast<int>(number);
}

}  // namespace

TEST_CASE("a handle stands for its event alone, and for nothing once it is old") {
  void* const first = open_event(numbered(1));
  REQUIRE(first != nullptr);
  add_bytes(first, 30);
  add_bytes(first, 12);
  OpenEvent event;
  REQUIRE(find_event(first, event));
  CHECK(is_whole(event, 1));
  CHECK(event.record.bytes == 42);
  REQUIRE(close_event(first, event));
  CHECK(find_event(first, event));     // the network may be behind
  CHECK(!close_event(first, event));   // ended twice
  for (uint64_t i = 2; i < 5000; ++i)  // until its place's turn has come again
    REQUIRE(close_event(open_event(numbered(i)), event));
  CHECK(!find_event(first, event));
  CHECK(!find_event(nullptr, event));
}

TEST_CASE("threads that begin, read and end events see whole ones") {
  constexpr uint64_t kEvents = 20'000;
  constexpr unsigned kWriters = 2, kReaders = 2;
  // Relaxed, as what hands them over must not be what synchronises the slots.
  std::array<std::atomic<void*>, kWriters> handed = {};
  std::atomic<unsigned> writing = kWriters, torn = 0, lost = 0, wrong_bytes = 0;
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      OpenEvent event;
      for (uint64_t i = 1; i <= kEvents; ++i) {
        const uint64_t number = i * kWriters + w;
        void* const handle = open_event(numbered(number));
        handed[w].store(handle, std::memory_order_relaxed);
        add_bytes(handle, 7);
        if (!close_event(handle, event) || !is_whole(event, number)) ++lost;
        if (event.record.bytes < 7) ++wrong_bytes;
      }
      --writing;
    });
  }
  for (unsigned r = 0; r < kReaders; ++r) {
    threads.emplace_back([&, r] {
      while (writing.load(std::memory_order_relaxed) > 0) {
        void* const handle = handed[r % kWriters].load(std::memory_order_relaxed);
        OpenEvent first, event;
        if (handle == nullptr || !find_event(handle, first)) continue;
        add_bytes(handle, 7);
        // Until the place is taken by another event: the moment that matters.
        while (writing.load(std::memory_order_relaxed) > 0 && find_event(handle, event)) {
          if (!is_whole(event, first.type)) ++torn;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(torn == 0);
  CHECK(lost == 0);
  CHECK(wrong_bytes == 0);
}
