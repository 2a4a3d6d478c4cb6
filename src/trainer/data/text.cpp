#include "trainer/data/text.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "collect/annotate.h"
#include "trainer/device/timing.h"
#include "trainer/program/initial_values.h"

namespace stallscope::trainer {

Result<std::vector<int32_t>> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<int32_t> tokens;
  char buffer[64 * 1024];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0)
    for (const char c : std::string_view(buffer, static_cast<size_t>(file.gcount()))) {
      const auto byte = static_cast<unsigned char>(c);
      tokens.push_back(byte < 128 ? byte : '?');
    }
  if (file.bad() || !file.eof()) return Error{.message = "cannot be read", .file = path};
  return tokens;
}

TextLoader::TextLoader(std::vector<int32_t> text, const LoaderOptions& options)
    : text_(std::move(text)), options_(options) {
  if (options_.prefetch == 0) return;
  for (size_t i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { prepare_ahead(); });
}

TextLoader::~TextLoader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Batch TextLoader::prepare(uint64_t number) const {
  const Ns start = now_ns();
  Batch batch;
  const size_t windows = text_.size() - options_.sequence - 1;
  for (size_t b = 0; b < options_.batch; ++b) {
    const uint64_t window = (number * options_.shards + options_.shard) * options_.batch + b;
    const size_t at = random_bits(options_.seed, window) % windows;
    batch.tokens.insert(batch.tokens.end(), text_.begin() + static_cast<std::ptrdiff_t>(at),
                        text_.begin() + static_cast<std::ptrdiff_t>(at + options_.sequence));
    batch.labels.insert(batch.labels.end(), text_.begin() + static_cast<std::ptrdiff_t>(at + 1),
                        text_.begin() + static_cast<std::ptrdiff_t>(at + options_.sequence + 1));
  }
  if (options_.preparation > 0) sleep_until_ns(start + options_.preparation);
  return batch;
}

void TextLoader::prepare_ahead() {
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || claimed_ < number_ + options_.prefetch; });
    if (stop_) return;
    const uint64_t number = claimed_++;
    lock.unlock();
    Batch batch = prepare(number);
    lock.lock();
    worker_tid_ = tid;
    ready_.emplace(number, std::move(batch));
    changed_.notify_all();
  }
}

Batch TextLoader::next() {
  const annotate::Scope range("dataloader_next");
  if (options_.prefetch == 0) {
    const annotate::Scope reading("dataloader_read", stallscope_wait{});
    return prepare(number_++);
  }
  std::unique_lock lock(mutex_);
  if (!ready_.contains(number_)) {
    stallscope_wait wait;
    wait.waker_tid = worker_tid_;
    const annotate::Scope waiting("dataloader_queue", wait);
    changed_.wait(lock, [this] { return ready_.contains(number_); });
  }
  Batch batch = std::move(ready_.extract(number_).mapped());
  ++number_;
  changed_.notify_all();
  return batch;
}

}  // namespace stallscope::trainer
