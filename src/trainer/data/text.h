// Text as training batches: windows of bytes, labels one byte ahead.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stallscope::trainer {

/// The bytes of a text file as tokens below 128; other bytes become '?'.
Result<std::vector<int32_t>> read_text(const std::string& path);

struct Batch {
  std::vector<int32_t> tokens, labels;  ///< batch * sequence each
};

struct LoaderOptions {
  size_t batch = 4, sequence = 32;
  /// This loader takes part `shard` of `shards` of the windows (data parallelism).
  size_t shard = 0, shards = 1;
  /// Batches prepared ahead by threads; 0 = prepared when asked for.
  size_t prefetch = 0;
  size_t workers = 1;  ///< threads that prepare ahead
  /// What preparing a batch takes at least (slow storage, decoding).
  Ns preparation = 0;
  uint64_t seed = 1;
};

/// Batch number n is a function of seed, n and shard alone.
class TextLoader {
 public:
  TextLoader(std::vector<int32_t> text, const LoaderOptions& options);
  ~TextLoader();
  TextLoader(const TextLoader&) = delete;
  TextLoader& operator=(const TextLoader&) = delete;

  /// The next batch; waits for the preparing threads, or prepares it here.
  Batch next();

 private:
  Batch prepare(uint64_t number) const;
  void prepare_ahead();

  std::vector<int32_t> text_;
  LoaderOptions options_;
  uint64_t number_ = 0;  ///< of the next batch to hand out
  std::mutex mutex_;     ///< guards what follows
  std::condition_variable changed_;
  std::map<uint64_t, Batch> ready_;
  uint64_t claimed_ = 0;  ///< of the next batch to prepare
  bool stop_ = false;
  uint32_t worker_tid_ = 0;  ///< of the thread that prepared last
  std::vector<std::thread> workers_;
};

}  // namespace stallscope::trainer
