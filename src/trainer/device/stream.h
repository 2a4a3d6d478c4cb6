// Stream: an in-order queue of device work served by a thread of its own.
// Calls return at once, as CUDA's do, except the ones that say they wait.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "collect/annotate.h"
#include "trainer/device/task.h"
#include "trainer/device/timing.h"

namespace stallscope::trainer {

class Device;

/// A point in a stream's work that other streams and the host can wait for.
/// Copies share one event. Recording again moves it forward.
class Event {
 public:
  Event();
  /// Blocks the host until the last recorded point has been reached.
  void synchronize() const;
  /// True when the last recorded point has been reached. Does not block.
  bool query() const;

 private:
  friend class Stream;
  struct State {
    uint32_t number = 0;                   ///< for announcements
    std::atomic<uint64_t> recorded{0};     ///< records enqueued
    std::atomic<uint64_t> reached{0};      ///< records executed
    std::atomic<uint32_t> correlation{0};  ///< of the last record
    int device = 0;
    uint32_t stream = 0;  ///< that last recorded it
  };
  std::shared_ptr<State> state_;
};

class Stream {
 public:
  static constexpr size_t kDepth = 1024;  ///< launches ahead, as CUDA's

  /// `number` names the stream in recordings.
  Stream(Device& device, uint32_t number);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() { return device_; }
  uint32_t number() const { return number_; }

  /// Enqueues a kernel. `name` must outlive the stream (a literal).
  void launch(const char* name, const Work& work, Task body);
  /// Enqueues a fill with a byte value.
  void memset_async(void* target, int value, size_t bytes);
  /// Enqueues a copy. Blocks like a blocking copy when host memory is pageable.
  void copy_to_device_async(void* device_target, const void* host_source, size_t bytes);
  void copy_to_host_async(void* host_target, const void* device_source, size_t bytes);
  void copy_on_device_async(void* target, const void* source, size_t bytes);
  /// Copies and returns when the bytes have arrived: everything queued before runs first.
  void copy_to_device(void* device_target, const void* host_source, size_t bytes);
  void copy_to_host(void* host_target, const void* device_source, size_t bytes);

  void record(Event& event);
  /// Work enqueued after this starts only when the event's last record has been reached.
  void wait(const Event& event);
  /// Blocks the host until all work enqueued so far is done.
  void synchronize();

  // For the device's own operations.

  /// Runs `body` in order, without announcement or modelled time, even on a failed device.
  void enqueue(Task body);
  /// Blocks until all enqueued work is done, without announcement.
  void drain();
  /// On the stream's thread: sleeps until `duration` from now.
  void finish_after(Ns duration);

 private:
  /// What is announced around a task, and how long it lasts in the timed mode.
  struct Announcement {
    enum class Kind : uint8_t { none, kernel, copy, memset };
    Kind kind = Kind::none;
    const char* name = nullptr;
    Ns duration = 0;
    stallscope_copy fields{};  ///< kernels and memsets use the fields they share with copies
  };
  struct Entry {
    Task body;
    Announcement announcement;
  };

  enum class Direction : uint8_t { to_device, to_host, on_device };
  Announcement announcement(Announcement::Kind kind, const char* name, Ns duration,
                            uint32_t correlation) const;
  void submit(Task body, const Announcement& announcement);
  void serve();
  void wait_completed(uint64_t target);
  void execute(Entry& entry);
  void copy(const char* name, void* target, const void* source, size_t bytes, Direction direction,
            bool blocking);

  Device& device_;
  uint32_t number_;
  std::array<Entry, kDepth> ring_;
  std::mutex submit_mutex_;
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
  static constexpr uint64_t kNever = ~uint64_t{0};
  std::atomic<uint64_t> wake_at_{kNever};  ///< the least of `completed_` that somebody waits for
  std::atomic<uint32_t> wakes_{0};         ///< how often waiters were woken
  bool stop_ = false;      ///< set by the last task, read by the stream's thread only
  Ns modelled_start_ = 0;  ///< of the running task; stream's thread only
  Ns modelled_end_ = 0;
  std::thread thread_;
};

}  // namespace stallscope::trainer
