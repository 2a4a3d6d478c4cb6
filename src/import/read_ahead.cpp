// Reads a stream ahead on a thread of its own.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "import/byte_stream.h"

namespace stallscope {
namespace {

constexpr size_t kBlockBytes = 1 << 20;
constexpr size_t kBlocks = 4;  // enough to even out bursts; 4 MB per open file

class ReadAhead final : public ByteStream {
 public:
  explicit ReadAhead(std::unique_ptr<ByteStream> inner)
      : inner_(std::move(inner)), thread_([this] { fill(); }) {}

  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Result<size_t> read(std::span<char> into) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return taken_ < filled_ || finished_; });
    if (taken_ == filled_) {
      damage_ = inner_damage_;
      if (error_) return *error_;
      return size_t{0};
    }
    Block& block = blocks_[taken_ % kBlocks];
    lock.unlock();  // the block belongs to this side until taken_ moves
    const size_t count = std::min(into.size(), block.size - block.used);
    std::memcpy(into.data(), block.bytes.data() + block.used, count);
    block.used += count;
    if (block.used == block.size) {
      lock.lock();
      ++taken_;
      lock.unlock();
      changed_.notify_all();
    }
    return count;
  }

  uint64_t consumed() const override { return consumed_.load(std::memory_order_relaxed); }
  const std::string& damage() const override { return damage_; }

 private:
  struct Block {
    std::vector<char> bytes = std::vector<char>(kBlockBytes);
    size_t size = 0, used = 0;
  };

  void fill() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ - taken_ < kBlocks || stop_; });
      if (stop_) return;
      Block& block = blocks_[filled_ % kBlocks];
      lock.unlock();
      Result<size_t> got = inner_->read(block.bytes);
      consumed_.store(inner_->consumed(), std::memory_order_relaxed);
      lock.lock();
      if (!got) error_ = got.error();
      if (!got || *got == 0) {
        inner_damage_ = inner_->damage();
        finished_ = true;
        lock.unlock();
        changed_.notify_all();
        return;
      }
      block.size = *got;
      block.used = 0;
      ++filled_;
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::unique_ptr<ByteStream> inner_;
  std::array<Block, kBlocks> blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t filled_ = 0, taken_ = 0;  // blocks since the start; guarded by mutex_
  bool finished_ = false, stop_ = false;
  std::optional<Error> error_;
  std::string inner_damage_, damage_;
  std::atomic<uint64_t> consumed_{0};
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace

std::unique_ptr<ByteStream> read_ahead(std::unique_ptr<ByteStream> stream) {
  return std::make_unique<ReadAhead>(std::move(stream));
}

}  // namespace stallscope
