#include "source/syntax/parse_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr size_t kKept = size_t{16} << 20;  ///< bytes a thread keeps for its next file

struct Block {
  char* start = nullptr;
  size_t size = 0;
};

/// The blocks of one thread.
class Blocks {
 public:
  ~Blocks() {
    for (const Block& block : all_) std::free(block.start);
  }

  void grow(size_t bytes) {
    while (used_ < all_.size() && all_[used_].size < bytes) ++used_;
    if (used_ == all_.size()) {
      const size_t size = std::max(bytes, kBlock);
      auto* start = static_cast<char*>(std::malloc(size));
      if (!start) {
        std::fputs("stallscope: out of memory\n", stderr);
        std::abort();
      }
      all_.push_back({start, size});
    }
    parse_memory.next = all_[used_].start;
    parse_memory.end = parse_memory.next + all_[used_].size;
    ++used_;
  }

  void reset() {
    size_t kept = 0;
    std::erase_if(all_, [&](const Block& block) {
      const bool drop = kept + block.size > kKept;
      if (drop)
        std::free(block.start);
      else
        kept += block.size;
      return drop;
    });
    used_ = 0;
    parse_memory = {};
  }

 private:
  std::vector<Block> all_;
  size_t used_ = 0;  ///< blocks of `all_` that hold pieces
};

thread_local Blocks blocks;

}  // namespace

__thread ParseMemory parse_memory = {};

void parse_memory_grow(size_t bytes) {
  blocks.grow(bytes);
}

namespace stallscope {

ParseMemoryScope::~ParseMemoryScope() {
  blocks.reset();
}

}  // namespace stallscope
