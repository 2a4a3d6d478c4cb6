// Segments made from arbitrary bytes, for the fuzzer and the damage tests: the
// bytes become records with valid commit words, so that what lies behind the
// first check is reached.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "import/segment_read.h"
#include "trace/segment_format.h"

namespace stallscope::test {

inline std::vector<unsigned char> empty_segment(size_t chunks) {
  std::vector<unsigned char> bytes(segment::kHeaderBytes + chunks * segment::kChunkBytes);
  segment::FileHeader header{};
  header.magic = segment::kMagic;
  header.version = segment::kVersion;
  header.header_bytes = segment::kHeaderBytes;
  header.chunk_bytes = segment::kChunkBytes;
  header.state = segment::State::open;
  header.pid = 1;
  header.clock_points = 2;
  std::memcpy(bytes.data(), &header, sizeof header);
  const segment::ClockPoint points[] = {{1000, 1000, 1000, 10}, {3000, 2000, 2000, 10}};
  std::memcpy(bytes.data() + segment::kClockTableOffset, points, sizeof points);
  return bytes;
}

/// Fills chunk `index` with `content`, read as records: sizes are made to fit,
/// commit words to match.
inline void fill_chunk(std::vector<unsigned char>& segment_bytes, size_t index,
                       segment::ChunkType type, std::span<const unsigned char> content) {
  unsigned char* chunk =
      segment_bytes.data() + segment::kHeaderBytes + index * segment::kChunkBytes;
  segment::ChunkHeader header{};
  header.type = type;
  header.key = 0x1234567;
  header.sequence = index + 1;
  std::memcpy(chunk, &header, sizeof header);
  unsigned char* records = chunk + segment::kChunkHeaderBytes;
  const size_t room = segment::kChunkBytes - segment::kChunkHeaderBytes;
  std::memcpy(records, content.data(), std::min(content.size(), room));
  if (type == segment::ChunkType::threads) return;
  for (size_t at = 0; at + 32 <= std::min(content.size(), room);) {
    unsigned char* record = records + at;
    if (record[0] == 0) record[0] = 32;
    size_t units = std::max<size_t>(record[1], 2);
    units = std::min(units, (room - at) / segment::kUnit);
    record[1] = static_cast<unsigned char>(units);
    const size_t bytes = units * segment::kUnit;
    uint64_t first_word = 0;
    std::memcpy(&first_word, record, sizeof first_word);
    const uint32_t commit = segment::commit_word(header.key, first_word);
    std::memcpy(record + bytes - sizeof commit, &commit, sizeof commit);
    at += bytes;
  }
}

/// Reads a segment made of `input`: a third definitions, a third records, a
/// third open ranges. Whatever comes, it must come as a value.
inline void read_made_segment(std::span<const unsigned char> input) {
  std::vector<unsigned char> bytes = empty_segment(3);
  const size_t third = input.size() / 3;
  fill_chunk(bytes, 0, segment::ChunkType::definitions, input.first(third));
  fill_chunk(bytes, 1, segment::ChunkType::records, input.subspan(third, third));
  fill_chunk(bytes, 2, segment::ChunkType::threads, input.subspan(2 * third));
  Trace trace;
  const auto source = segment_in_memory(bytes);
  (void)read_segment_source(*source, "made", trace, {}, {});
  trace.finish();
}

/// Reads `bytes` as they are.
inline bool read_raw_segment(std::span<const unsigned char> bytes) {
  Trace trace;
  const auto source = segment_in_memory(bytes);
  const bool ok = read_segment_source(*source, "raw", trace, {}, {}).ok();
  trace.finish();
  return ok;
}

}  // namespace stallscope::test
