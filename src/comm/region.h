// The memory a group shares: one slot per rank, each with a sequence number
// others wait for and two data buffers used in turn. Lives in anonymous memory
// for threads and in a POSIX shared memory object for processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace stallscope::comm {

/// Bytes moved per turn: two buffers of two ranks stay within a core's L2 cache.
inline constexpr size_t kChunkBytes = 128 * 1024;
/// What the names of these shared memory objects begin with.
inline constexpr const char* kRegionPrefix = "/stallscope-comm-";
/// More ranks than any one machine runs; bounds what a hostile size can map.
inline constexpr int kMaxRanks = 1024;

struct alignas(128) Slot {
  std::atomic<uint32_t> sequence{0};  ///< turns this rank has published (a futex)
  std::atomic<uint32_t> waiters{0};   ///< ranks asleep on `sequence`
  std::atomic<int32_t> pid{0};        ///< 0 until the rank has joined
  std::atomic<uint64_t> birth{0};     ///< start time of that process, against reused pids
  uint64_t tag[2] = {0, 0};           ///< which call each buffer belongs to
  alignas(128) unsigned char data[2][kChunkBytes];
};

struct RegionHeader {
  std::atomic<uint32_t> ready{0};  ///< kRegionReady once the creator has set it up
  uint32_t size = 0;
  std::atomic<int32_t> creator_pid{0};
  std::atomic<uint64_t> creator_birth{0};
};

class Region {
 public:
  static std::shared_ptr<Region> anonymous(int size);
  /// Creates (rank 0) or joins the object `name`; returns when every rank has joined,
  /// after which the object has no name any more and nothing can be left over. What killed runs
  /// left before that is removed by the next run's rank 0.
  static Result<std::shared_ptr<Region>> shared(const std::string& name, int rank, int size,
                                                std::chrono::milliseconds timeout);
  Region(void* base, size_t bytes, bool between_processes)
      : base_(base), bytes_(bytes), between_processes_(between_processes) {}
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  RegionHeader& header() { return *static_cast<RegionHeader*>(base_); }
  Slot& slot(int rank);
  bool between_processes() const { return between_processes_; }

 private:
  void* base_;
  size_t bytes_;
  bool between_processes_;
};

/// False once the process of `pid` that started at `birth` has ended (zombies have).
bool process_alive(int32_t pid, uint64_t birth);
/// The start time of this process, in clock ticks since boot.
uint64_t own_birth();

/// Sleeps until `word` differs from `expected`, is woken, or `timeout` passes.
void futex_wait(std::atomic<uint32_t>& word, uint32_t expected, std::chrono::milliseconds timeout);
void futex_wake_all(std::atomic<uint32_t>& word);

}  // namespace stallscope::comm
