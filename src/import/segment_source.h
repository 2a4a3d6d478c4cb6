// The bytes of a segment file, read and never mapped: a file that shrinks is an
// error, not a signal. Also from memory, for the fuzzer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "trace/segment_format.h"

namespace stallscope {

class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  virtual uint64_t size() const = 0;
  /// Fills `into` from `offset`; false when not all of it is there.
  virtual bool read(uint64_t offset, std::span<unsigned char> into) const = 0;
};

Result<std::unique_ptr<SegmentSource>> open_segment_file(const std::string& path);
std::unique_ptr<SegmentSource> segment_in_memory(std::span<const unsigned char> bytes);

/// A chunk as read. Its header has been checked, its records not.
struct SegmentChunk {
  alignas(16) unsigned char bytes[segment::kChunkBytes];
  const segment::ChunkHeader& header() const {
    return *reinterpret_cast<const segment::ChunkHeader*>(bytes);
  }
};

/// One record, as it lies in a chunk.
struct RecordView {
  segment::Record head;
  segment::Tail tail;
  uint64_t duration = 0;  ///< short or long
  segment::Context context{};
  std::span<const unsigned char> body;  ///< what lies between the optional parts and the tail
};

/// Walks the records of a chunk until the first that was not completed.
class RecordWalk {
 public:
  /// `committed`: records must carry the chunk's commit word (not so in thread blocks).
  RecordWalk(std::span<const unsigned char> records, uint32_t key, bool committed)
      : rest_(records), key_(key), committed_(committed) {}
  /// The next record; false at the end.
  bool next(RecordView& record);
  /// True when the walk ended at something that is neither free room nor a torn record.
  bool damaged() const { return damaged_; }

 private:
  std::span<const unsigned char> rest_;
  uint32_t key_;
  bool committed_;
  bool damaged_ = false;
};

}  // namespace stallscope
