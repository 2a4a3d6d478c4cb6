// Reads a stream ahead on a thread of its own.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "import/byte_stream.h"
#include "import/event_parser.h"

namespace stallscope {
namespace {

constexpr size_t kBlocks = 5;  // two lent to the reader, the others even out bursts

class ReadAhead final : public BlockStream {
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

  Result<std::span<char>> next() override {
    std::unique_lock lock(mutex_);
    // The block before this one stays with the reader, the one before that returns.
    released_ = std::max<size_t>(lent_, 1) - 1;
    changed_.notify_all();
    changed_.wait(lock, [this] { return lent_ < filled_ || finished_; });
    if (lent_ == filled_) {
      damage_ = inner_damage_;
      if (error_) return *error_;
      return std::span<char>();
    }
    return blocks_[lent_++ % kBlocks].text();
  }

  uint64_t consumed() const override { return consumed_.load(std::memory_order_relaxed); }
  const std::string& damage() const override { return damage_; }

 private:
  struct Block {
    std::vector<char> bytes = std::vector<char>(kBlockHeadroom + kBlockBytes + kParsePadding);
    size_t size = 0;
    std::span<char> room() { return {bytes.data() + kBlockHeadroom, kBlockBytes}; }
    std::span<char> text() { return room().first(size); }
  };

  void fill() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ - released_ < kBlocks || stop_; });
      if (stop_) return;
      Block& block = blocks_[filled_ % kBlocks];
      lock.unlock();  // the block belongs to this side until filled_ moves
      Result<size_t> got = inner_->read(block.room());
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
      ++filled_;
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::unique_ptr<ByteStream> inner_;
  std::array<Block, kBlocks> blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t filled_ = 0, lent_ = 0, released_ = 0;  // blocks since the start; guarded by mutex_
  bool finished_ = false, stop_ = false;
  std::optional<Error> error_;
  std::string inner_damage_, damage_;
  std::atomic<uint64_t> consumed_{0};
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace

std::unique_ptr<BlockStream> read_ahead(std::unique_ptr<ByteStream> stream) {
  return std::make_unique<ReadAhead>(std::move(stream));
}

}  // namespace stallscope
