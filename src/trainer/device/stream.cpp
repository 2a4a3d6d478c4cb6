#include "trainer/device/stream.h"

#include <sys/prctl.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cstring>

#include "trainer/device/announce.h"
#include "trainer/device/device.h"

namespace stallscope::trainer {
namespace {

// A stream that fell behind its modelled schedule (a busy machine) may catch up by this much.
constexpr Ns kMaxCatchUp = 500'000;
// Sleeps end this close to their time; the default slack of 50 us would lengthen every kernel.
constexpr unsigned long kTimerSlackNs = 1'000;

// Denormals are read and written as zero by this thread and the threads it starts: they make
// arithmetic tens of times slower and mean nothing in training.
void flush_denormals() {
#if defined(__x86_64__)
  constexpr unsigned kFlushToZero = 1U << 15, kDenormalsAreZero = 1U << 6;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

void wait_until(const std::atomic<uint64_t>& counter, uint64_t target) {
  uint64_t seen = counter.load(std::memory_order_acquire);
  while (seen < target) {
    counter.wait(seen, std::memory_order_acquire);
    seen = counter.load(std::memory_order_acquire);
  }
}

}  // namespace

Event::Event() : state_(std::make_shared<State>()) {
  static std::atomic<uint32_t> next{0};
  state_->number = ++next;
}

void Event::synchronize() const {
  stallscope_api api;
  api.call = STALLSCOPE_API_EVENT_SYNC;
  api.device = static_cast<int16_t>(state_->device);
  api.stream = state_->stream;
  api.correlation = stallscope_next_correlation();
  api.event = state_->number;
  const Scope scope("event_synchronize", api);
  const Scope wait("event_synchronize", sync_of(STALLSCOPE_SYNC_EVENT, state_->device,
                                                state_->stream, api.correlation, state_->number));
  wait_until(state_->reached, state_->recorded.load(std::memory_order_acquire));
}

bool Event::query() const {
  return state_->reached.load(std::memory_order_acquire) >=
         state_->recorded.load(std::memory_order_acquire);
}

Stream::Stream(Device& device, uint32_t number)
    : device_(device), number_(number), thread_([this] { serve(); }) {}

Stream::~Stream() {
  enqueue([this] { stop_ = true; });
  thread_.join();
}

void Stream::enqueue(Task body) {
  submit(std::move(body), {});
}

void Stream::submit(Task body, const Announcement& announcement) {
  const std::lock_guard lock(submit_mutex_);
  const uint64_t turn = submitted_.load(std::memory_order_relaxed);
  // Woken once for a part of the ring, not for every place: the host shares cores with the work.
  constexpr uint64_t kRoom = kDepth / 8;
  if (turn >= kDepth && completed_.load(std::memory_order_acquire) < turn + 1 - kDepth)
    wait_completed(turn + kRoom - kDepth);
  Entry& entry = ring_[turn % kDepth];
  entry.body = std::move(body);
  entry.announcement = announcement;
  submitted_.store(turn + 1, std::memory_order_release);
  submitted_.notify_one();
}

void Stream::serve() {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  flush_denormals();
  for (uint64_t turn = 0; !stop_; ++turn) {
    const bool was_busy = submitted_.load(std::memory_order_acquire) > turn;
    if (!was_busy) wait_until(submitted_, turn + 1);
    const Ns now = now_ns();
    modelled_start_ = was_busy && now - modelled_end_ < kMaxCatchUp ? modelled_end_ : now;
    modelled_end_ = modelled_start_;
    Entry& entry = ring_[turn % kDepth];
    execute(entry);
    entry.body = Task();
    completed_.store(turn + 1);
    if (turn + 1 >= wake_at_.load()) {
      wake_at_.store(kNever);
      wakes_.fetch_add(1);
      wakes_.notify_all();
    }
  }
}

// Sequentially consistent on both sides: either the stream sees the target, or this sees the work
// done. Whoever is woken for another's target asks again.
void Stream::wait_completed(uint64_t target) {
  while (true) {
    const uint32_t wakes = wakes_.load();
    uint64_t at = wake_at_.load();
    while (target < at && !wake_at_.compare_exchange_weak(at, target)) {
    }
    if (completed_.load() >= target) return;
    wakes_.wait(wakes);
  }
}

void Stream::execute(Entry& entry) {
  using Kind = Announcement::Kind;
  const Announcement& it = entry.announcement;
  if (it.kind == Kind::none) return entry.body();
  if (device_.failed()) return;
  switch (it.kind) {
    case Kind::kernel: {
      stallscope_kernel kernel;
      kernel.device = it.fields.device;
      kernel.modelled = it.fields.modelled;
      kernel.stream = it.fields.stream;
      kernel.correlation = it.fields.correlation;
      stallscope_kernel_begin(it.name, kernel);
      break;
    }
    case Kind::memset: {
      stallscope_memset set;
      set.device = it.fields.device;
      set.modelled = it.fields.modelled;
      set.stream = it.fields.stream;
      set.correlation = it.fields.correlation;
      set.bytes = it.fields.bytes;
      stallscope_memset_begin(it.name, set);
      break;
    }
    default:
      stallscope_copy_begin(it.name, it.fields);
  }
  entry.body();
  if (it.duration > 0) {
    modelled_end_ = modelled_start_ + it.duration;
    sleep_until_ns(modelled_end_);
  }
  stallscope_end();
}

void Stream::drain() {
  wait_completed(submitted_.load(std::memory_order_acquire));
}

void Stream::finish_after(Ns duration) {
  modelled_end_ = now_ns() + duration;
  sleep_until_ns(modelled_end_);
}

void Stream::launch(const char* name, const Work& work, Task body) {
  const uint32_t correlation = stallscope_next_correlation();
  const Scope scope("launch_kernel", api_of(STALLSCOPE_API_LAUNCH, device_, number_, correlation));
  submit(std::move(body),
         announcement(Announcement::Kind::kernel, name,
                      device_.timed() ? device_.options().timing->kernel(work) : 0, correlation));
}

Stream::Announcement Stream::announcement(Announcement::Kind kind, const char* name, Ns duration,
                                          uint32_t correlation) const {
  Announcement it{.kind = kind, .name = name, .duration = duration};
  it.fields.device = static_cast<int16_t>(device_.number());
  it.fields.modelled = duration > 0;
  it.fields.stream = number_;
  it.fields.correlation = correlation;
  return it;
}

void Stream::memset_async(void* target, int value, size_t bytes) {
  const uint32_t correlation = stallscope_next_correlation();
  stallscope_api_memory memory;
  memory.api = api_of(STALLSCOPE_API_MEMSET, device_, number_, correlation);
  memory.bytes = bytes;
  memory.target_memory = STALLSCOPE_MEMORY_DEVICE;
  const Scope scope("memset_async", memory);
  const Ns duration =
      device_.timed() ? device_.options().timing->kernel({.bytes = static_cast<double>(bytes)}) : 0;
  Announcement it = announcement(Announcement::Kind::memset, "memset", duration, correlation);
  it.fields.bytes = bytes;
  submit([target, value, bytes] { std::memset(target, value, bytes); }, it);
}

void Stream::copy(const char* name, void* target, const void* source, size_t bytes,
                  Direction direction, bool blocking) {
  const bool on_device = direction == Direction::on_device;
  const void* host = direction == Direction::to_device ? source : target;
  const bool pageable = !on_device && !device_.is_pinned(host, bytes);
  const auto host_memory = pageable ? STALLSCOPE_MEMORY_PAGEABLE : STALLSCOPE_MEMORY_PINNED;
  const uint32_t correlation = stallscope_next_correlation();

  stallscope_api_memory memory;
  memory.api = api_of(blocking ? STALLSCOPE_API_COPY_BLOCKING : STALLSCOPE_API_COPY, device_,
                      number_, correlation);
  memory.bytes = bytes;
  memory.source_memory = static_cast<uint8_t>(
      direction == Direction::to_device ? host_memory : STALLSCOPE_MEMORY_DEVICE);
  memory.target_memory = static_cast<uint8_t>(
      direction == Direction::to_host ? host_memory : STALLSCOPE_MEMORY_DEVICE);
  const Scope scope(name, memory);

  Ns duration = 0;
  if (device_.timed()) {
    const TimingModel& model = *device_.options().timing;
    duration = on_device ? model.kernel({.bytes = 2.0 * static_cast<double>(bytes)})
                         : model.copy(bytes, pageable);
  }
  Announcement it = announcement(Announcement::Kind::copy, "memcpy", duration, correlation);
  it.fields.copy =
      static_cast<uint8_t>(direction == Direction::to_device ? STALLSCOPE_COPY_HOST_TO_DEVICE
                           : direction == Direction::to_host ? STALLSCOPE_COPY_DEVICE_TO_HOST
                                                             : STALLSCOPE_COPY_DEVICE_TO_DEVICE);
  it.fields.source_memory = memory.source_memory;
  it.fields.target_memory = memory.target_memory;
  it.fields.bytes = bytes;
  submit([target, source, bytes] { std::memcpy(target, source, bytes); }, it);
  if (blocking || pageable) drain();
}

void Stream::copy_to_device_async(void* device_target, const void* host_source, size_t bytes) {
  copy("memcpy_async", device_target, host_source, bytes, Direction::to_device, false);
}
void Stream::copy_to_host_async(void* host_target, const void* device_source, size_t bytes) {
  copy("memcpy_async", host_target, device_source, bytes, Direction::to_host, false);
}
void Stream::copy_on_device_async(void* target, const void* source, size_t bytes) {
  copy("memcpy_async", target, source, bytes, Direction::on_device, false);
}
void Stream::copy_to_device(void* device_target, const void* host_source, size_t bytes) {
  copy("memcpy", device_target, host_source, bytes, Direction::to_device, true);
}
void Stream::copy_to_host(void* host_target, const void* device_source, size_t bytes) {
  copy("memcpy", host_target, device_source, bytes, Direction::to_host, true);
}

void Stream::record(Event& event) {
  const uint32_t correlation = stallscope_next_correlation();
  const auto state = event.state_;
  const Scope scope("event_record", api_of(STALLSCOPE_API_EVENT_RECORD, device_, number_,
                                           correlation, state->number));
  state->device = device_.number();
  state->stream = number_;
  state->correlation = correlation;
  const uint64_t point = state->recorded.fetch_add(1) + 1;
  enqueue([this, state, point, correlation] {
    stallscope_event_record("event_record",
                            stream_event_of(device_.number(), number_, correlation, state->number));
    state->reached.store(point, std::memory_order_release);
    state->reached.notify_all();
  });
}

void Stream::wait(const Event& event) {
  const uint32_t correlation = stallscope_next_correlation();
  const auto state = event.state_;
  const Scope scope("stream_wait_event", api_of(STALLSCOPE_API_STREAM_WAIT, device_, number_,
                                                correlation, state->number));
  const uint64_t point = state->recorded.load();
  const uint32_t record = state->correlation;
  enqueue([this, state, point, correlation, record] {
    if (state->reached.load(std::memory_order_acquire) >= point) return;
    const Scope waiting("stream_wait_event", stream_event_of(device_.number(), number_, correlation,
                                                             state->number, record));
    wait_until(state->reached, point);
    modelled_end_ = now_ns();
  });
}

void Stream::synchronize() {
  const uint32_t correlation = stallscope_next_correlation();
  const Scope scope("stream_synchronize",
                    api_of(STALLSCOPE_API_STREAM_SYNC, device_, number_, correlation));
  const Scope wait("stream_synchronize",
                   sync_of(STALLSCOPE_SYNC_STREAM, device_.number(), number_, correlation));
  drain();
}

}  // namespace stallscope::trainer
