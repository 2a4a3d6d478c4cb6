// Device: a CPU that behaves like a GPU. Streams run asynchronously, memory is
// separate by convention, host memory is pageable unless asked for as pinned,
// and the host blocks where CUDA's host would.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "trainer/device/stream.h"
#include "trainer/device/timing.h"

namespace stallscope::trainer {

struct DeviceOptions {
  int number = 0;                       ///< names the device in recordings
  std::optional<TimingModel> timing{};  ///< timed mode: kernels last as long as modelled
  int team = 1;                         ///< threads a kernel may use
};

class Device {
 public:
  explicit Device(const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// The default stream; blocking copies run on it.
  Stream& stream() { return *streams_.front(); }
  Stream& create_stream();

  /// Device memory, 64-byte aligned. Fails the device when there is none.
  void* allocate(size_t bytes);
  /// Waits for all streams, then gives the memory back, as cudaFree does.
  void release(void* memory);
  /// Host memory that copies read directly.
  void* allocate_pinned(size_t bytes);
  void release_pinned(void* memory);

  /// Blocks the host until every stream is idle.
  void synchronize();

  /// The first thing that went wrong on a stream; later work is skipped, as after a CUDA error.
  Status status() const;
  void fail(Error error);
  /// Forgets what went wrong, so that work runs again: to look into it.
  void recover();
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  const DeviceOptions& options() const { return options_; }
  int number() const { return options_.number; }
  bool timed() const { return options_.timing.has_value(); }
  bool is_pinned(const void* memory, size_t bytes) const;

 private:
  void drain_all();

  DeviceOptions options_;
  std::vector<std::unique_ptr<Stream>> streams_;
  mutable std::mutex mutex_;  ///< guards the maps and the error
  std::map<const std::byte*, size_t> device_memory_, pinned_memory_;
  size_t device_bytes_ = 0;
  std::atomic<bool> failed_{false};
  std::optional<Error> error_;
};

/// Device memory of `count` elements of T, given back at the end of the scope.
template <typename T>
class Buffer {
 public:
  Buffer(Device& device, size_t count)
      : device_(&device),
        data_(static_cast<T*>(device.allocate(count * sizeof(T)))),
        size_(count) {}
  Buffer(Buffer&& other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) device_->release(data_);
  }
  T* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Device* device_;
  T* data_;
  size_t size_;
};

/// Pinned host memory of `count` elements of T.
template <typename T>
class PinnedBuffer {
 public:
  PinnedBuffer(Device& device, size_t count)
      : device_(&device),
        data_(static_cast<T*>(device.allocate_pinned(count * sizeof(T)))),
        size_(count) {}
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  PinnedBuffer& operator=(PinnedBuffer&&) = delete;
  ~PinnedBuffer() {
    if (data_ != nullptr) device_->release_pinned(data_);
  }
  T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  Device* device_;
  T* data_;
  size_t size_;
};

}  // namespace stallscope::trainer
