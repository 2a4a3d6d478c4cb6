#include "trainer/device/device.h"

#include <sys/mman.h>

#include <cstdlib>

#include "trainer/device/announce.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kAlignment = 64;

constexpr size_t kHugePage = 2 << 20;

void* aligned(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded < bytes) return nullptr;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  // A hint: fewer address translations where the kernel has huge pages to give.
  if (memory != nullptr && alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

stallscope_alloc allocation_of(int device, bool release, const void* address, size_t bytes,
                               size_t total) {
  stallscope_alloc it;
  it.device = static_cast<int16_t>(device);
  it.release = release;
  it.address = reinterpret_cast<uintptr_t>(address);
  it.bytes = bytes;
  it.total_bytes = total;
  return it;
}

}  // namespace

Device::Device(const DeviceOptions& options) : options_(options) {
  create_stream();
}

Device::~Device() {
  drain_all();
  streams_.clear();
  for (const auto& [memory, bytes] : device_memory_) std::free(const_cast<std::byte*>(memory));
  for (const auto& [memory, bytes] : pinned_memory_) std::free(const_cast<std::byte*>(memory));
}

Stream& Device::create_stream() {
  streams_.push_back(std::make_unique<Stream>(*this, static_cast<uint32_t>(streams_.size()) + 1));
  return *streams_.back();
}

void* Device::allocate(size_t bytes) {
  stallscope_api_memory memory;
  memory.api = api_of(STALLSCOPE_API_ALLOC, *this, 0, stallscope_next_correlation());
  memory.bytes = bytes;
  memory.target_memory = STALLSCOPE_MEMORY_DEVICE;
  const Scope scope("malloc", memory);
  if (timed()) sleep_until_ns(now_ns() + options_.timing->allocation);
  void* address = aligned(bytes);
  if (address == nullptr) {
    fail(Error{.message = "no device memory for " + format_bytes(static_cast<double>(bytes))});
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  device_memory_[static_cast<const std::byte*>(address)] = bytes;
  device_bytes_ += bytes;
  stallscope_allocation("device", allocation_of(number(), false, address, bytes, device_bytes_));
  return address;
}

void Device::release(void* memory) {
  if (memory == nullptr) return;
  const uint32_t correlation = stallscope_next_correlation();
  const Scope scope("free", api_of(STALLSCOPE_API_FREE, *this, 0, correlation));
  {
    const Scope wait("free", sync_of(STALLSCOPE_SYNC_DEVICE, number(), 0, correlation));
    drain_all();
  }
  const std::lock_guard lock(mutex_);
  const auto found = device_memory_.find(static_cast<const std::byte*>(memory));
  if (found == device_memory_.end()) return;
  device_bytes_ -= found->second;
  stallscope_allocation("device",
                        allocation_of(number(), true, memory, found->second, device_bytes_));
  device_memory_.erase(found);
  std::free(memory);
}

void* Device::allocate_pinned(size_t bytes) {
  stallscope_api_memory memory;
  memory.api = api_of(STALLSCOPE_API_HOST_ALLOC, *this, 0, stallscope_next_correlation());
  memory.bytes = bytes;
  memory.target_memory = STALLSCOPE_MEMORY_PINNED;
  const Scope scope("malloc_host", memory);
  if (timed()) sleep_until_ns(now_ns() + options_.timing->allocation);
  void* address = aligned(bytes);
  if (address == nullptr) {
    fail(Error{.message = "no host memory for " + format_bytes(static_cast<double>(bytes))});
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  pinned_memory_[static_cast<const std::byte*>(address)] = bytes;
  return address;
}

void Device::release_pinned(void* memory) {
  if (memory == nullptr) return;
  const Scope scope("free_host",
                    api_of(STALLSCOPE_API_FREE, *this, 0, stallscope_next_correlation()));
  drain_all();
  const std::lock_guard lock(mutex_);
  if (pinned_memory_.erase(static_cast<const std::byte*>(memory)) != 0) std::free(memory);
}

bool Device::is_pinned(const void* memory, size_t bytes) const {
  const auto* address = static_cast<const std::byte*>(memory);
  const std::lock_guard lock(mutex_);
  auto after = pinned_memory_.upper_bound(address);
  if (after == pinned_memory_.begin()) return false;
  --after;
  return address + bytes <= after->first + after->second;
}

void Device::synchronize() {
  const uint32_t correlation = stallscope_next_correlation();
  const Scope scope("device_synchronize",
                    api_of(STALLSCOPE_API_DEVICE_SYNC, *this, 0, correlation));
  const Scope wait("device_synchronize", sync_of(STALLSCOPE_SYNC_DEVICE, number(), 0, correlation));
  drain_all();
}

void Device::drain_all() {
  for (const auto& stream : streams_) stream->drain();
}

Status Device::status() const {
  const std::lock_guard lock(mutex_);
  if (error_) return *error_;
  return ok_status();
}

void Device::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_.store(true, std::memory_order_relaxed);
}

void Device::recover() {
  drain_all();
  const std::lock_guard lock(mutex_);
  error_.reset();
  failed_.store(false, std::memory_order_relaxed);
}

}  // namespace stallscope::trainer
