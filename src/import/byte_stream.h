// ByteStream: the bytes of a trace file in order, inflated where it is
// compressed. Files are read(), never mapped, so that a file that shrinks or a
// failing disk is an error and not a signal, and only a few blocks are held.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace stallscope {

/// A forward-only source of bytes.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Fills the front of `into`; returns how many bytes, 0 at the end.
  virtual Result<size_t> read(std::span<char> into) = 0;

  /// Bytes of the file itself taken so far, for progress.
  virtual uint64_t consumed() const = 0;

  /// Non-empty once the stream ended before its proper end, saying why: what
  /// was read until then is still good.
  virtual const std::string& damage() const = 0;
};

/// How much a stream may give before it is refused as a decompression bomb.
struct StreamLimits {
  uint64_t max_inflated_bytes = 64ULL << 30;
};

/// Opens `path`, looking at its first bytes: gzip (any number of members), zstd
/// or neither. Errors: not readable, a directory.
Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path,
                                                const StreamLimits& limits = {});

/// Room before each block of a BlockStream, so that what is left of the one before can be put there
/// instead of copying the block behind it.
inline constexpr size_t kBlockHeadroom = 64 << 10;
inline constexpr size_t kBlockBytes = (1 << 20) - kBlockHeadroom;

/// A stream in blocks, read ahead by a thread of its own, so that inflating overlaps with what the
/// reader does.
class BlockStream {
 public:
  virtual ~BlockStream() = default;

  /// The next block, of at most kBlockBytes; empty at the end. It may be written to, as may the
  /// kBlockHeadroom bytes before it and kParsePadding bytes behind it. It stays until the call
  /// after the next one.
  virtual Result<std::span<char>> next() = 0;

  virtual uint64_t consumed() const = 0;          ///< as ByteStream
  virtual const std::string& damage() const = 0;  ///< as ByteStream
};

std::unique_ptr<BlockStream> read_ahead(std::unique_ptr<ByteStream> stream);

/// The first `size` bytes of `path`, inflated; shorter for a shorter file.
Result<std::string> read_head(const std::string& path, size_t size);

}  // namespace stallscope
