// The layout of one process's segment file, shared by the writer inside the
// process and the reader. Plain little-endian data, no library needed.
//
//   FileHeader, clock points          kHeaderBytes
//   chunk 0, chunk 1, ...             kChunkBytes each
//
// A chunk holds records (events of one thread at a time), definitions (what the
// records refer to; never recycled) or the open ranges of four threads. A record
// is a multiple of 16 bytes: kind and size in the first word, the commit word
// last. A reader walks a chunk until the first record whose commit word is not
// that of the chunk: what was torn by a kill, and what an earlier use of the
// chunk left behind, does not match.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stallscope::segment {

inline constexpr uint64_t kMagic = 0x31474553504f4353ULL;  // "SCOPSEG1" in memory
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kHeaderBytes = 64 * 1024;
inline constexpr size_t kChunkBytes = 64 * 1024;
inline constexpr size_t kChunkHeaderBytes = 64;
inline constexpr size_t kUnit = 16;                     // records are multiples of this
inline constexpr size_t kMaxRecordBytes = 255 * kUnit;  // its size is one byte, in units
inline constexpr const char kFileSuffix[] = ".ssg";

enum class ClockSource : uint32_t { monotonic, tsc };

enum class State : uint32_t {
  open = 1,  ///< the process was still writing, or was killed
  closed,    ///< it ended through exit()
  execed,    ///< it replaced itself by another program
};

/// One reading of three clocks within a few tens of nanoseconds.
struct ClockPoint {
  uint64_t ticks;        ///< the recorder's clock
  int64_t monotonic_ns;  ///< CLOCK_MONOTONIC
  int64_t realtime_ns;   ///< CLOCK_REALTIME
  int64_t width_ns;      ///< how long the three readings took: bounds their error
};

inline constexpr size_t kMaxClockPoints = 1024;

/// At offset 0. Counters are only ever raised; they are read after the fact.
struct FileHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint32_t chunk_bytes;
  State state;
  int64_t pid;
  int64_t parent_pid;
  uint64_t process_start;  ///< field 22 of /proc/PID/stat: equal before and after an exec
  int32_t rank;            ///< -1 = not started by a launcher
  int32_t local_rank;      ///< -1 = unknown
  int32_t world_size;      ///< 0 = unknown
  ClockSource clock;
  uint32_t clock_points;       ///< valid entries of the table behind this header
  uint32_t chunks;             ///< chunks that were ever handed out
  uint64_t lost_records;       ///< no room could be had
  uint64_t discarded_records;  ///< overwritten to stay within the size limit
  uint64_t discarded_until;    ///< ticks: events that ended before are incomplete; 0 = none
  uint64_t inline_texts;       ///< texts stored with the event because the table was full
  uint64_t own_ticks;          ///< measured time in the slow paths of the recorder
  uint64_t own_helper_ns;      ///< CPU time of the recorder's helper thread
  uint32_t range_cost_ticks;   ///< measured at start: one range, push and pop
  uint32_t forked;             ///< 1 when a fork made this process
  uint64_t max_bytes;          ///< the size limit in force; 0 = none
  char host[64];
  char command[1024];  ///< NUL-separated arguments, cut at the end
  uint32_t paused;     ///< 1 = events are not kept now: before, after or between what was asked for
};
inline constexpr size_t kClockTableOffset = 4096;
static_assert(sizeof(FileHeader) <= kClockTableOffset);
static_assert(kClockTableOffset + kMaxClockPoints * sizeof(ClockPoint) <= kHeaderBytes);

enum class ChunkType : uint32_t { free, records, definitions, threads };

/// At the start of every chunk.
struct ChunkHeader {
  ChunkType type;
  uint32_t key;         ///< part of every commit word in the chunk
  uint64_t sequence;    ///< order in which chunks were taken into use; 0 = never
  uint64_t last_ticks;  ///< records: when the chunk was full; 0 = still in use
  uint32_t records;     ///< records: how many, once full
  uint32_t reserved[9];
};
static_assert(sizeof(ChunkHeader) == kChunkHeaderBytes);

/// Ranges a thread has begun and not ended: range records back to back, without
/// duration and commit word. kThreadsPerChunk of these follow a chunk's header.
struct ThreadBlock {
  uint32_t tid;   ///< 0 = the block is not in use
  uint32_t used;  ///< bytes of `open` that hold records
  uint64_t reserved;
  unsigned char open[16352];
};
inline constexpr size_t kThreadsPerChunk = 4;
static_assert(sizeof(ThreadBlock) == (kChunkBytes - kChunkHeaderBytes) / kThreadsPerChunk);

enum class RecordKind : uint8_t {
  none,
  // Definitions: give a meaning to the numbers in later records.
  string,       ///< name = id; text
  thread,       ///< records that follow in this chunk are of thread `extra` (tid); start = ticks
  domain,       ///< name = string id; extra = domain number
  category,     ///< name = string id; extra = category; tail = domain number
  schema,       ///< name = string id; see SchemaEntry; tail = schema number
  enumeration,  ///< name = string id; see EnumEntry; tail = schema number
  lane,         ///< a (device, context, stream): tail = lane number; start = stream; see Lane
  stack,        ///< name = id; frames as uint64_t, innermost first (see kPythonFrame)
  code,         ///< a Python function: name = string id of it; see PythonCode
  module,       ///< a loaded object: name = string id of the path; see Module
  thread_name,  ///< extra = tid; name = string id; tail = kNamedByProgram or 0
  resource,     ///< a named resource: start = handle; extra = its type; name = string id
  note,         ///< name = string id: a sentence for the report
  hole,  ///< from here on (tail = kHoleOpens) or until here: name = string id of why; start = ticks
  capture,  ///< events are kept from here on (tail = kCaptureOpens) or no longer; start = ticks
  // Ranges and instants in the words of NVTX.
  range = 32,  ///< complete
  mark,
  range_start,  ///< as a range, but `duration` is its number; may end on another thread
  range_end,    ///< start = ticks of the end; duration = the range's number
  // Events in the trace's own terms: event + EventKind.
  event = 64,
};

enum RecordFlag : uint8_t {
  kLongDuration = 1,  ///< a 64-bit duration follows the fixed part; the short one is 0
  kContext = 2,       ///< a Context follows
  kTruncated = 4,     ///< text or payload did not fit
  kManyPayloads = 8,  ///< the payload is a sequence of PayloadPart
  kRealtime = 16,     ///< start and duration are nanoseconds of CLOCK_REALTIME, not ticks
};

/// Tail of a `hole` record that opens one; the next one closes it, else the end of the recording.
inline constexpr uint32_t kHoleOpens = 1;

/// Tail of a `capture` record after which events are kept.
inline constexpr uint32_t kCaptureOpens = 1;

/// A thread's name given by the program, not read from the system: it prevails.
inline constexpr uint32_t kNamedByProgram = 1;

/// The fixed part that begins every record.
struct Record {
  RecordKind kind;
  uint8_t units;      ///< size of the whole record in units of 16 bytes
  uint8_t flags;      ///< RecordFlag
  uint8_t detail;     ///< ranges: domain number (0 = default); events: as in event.h
  uint32_t name;      ///< string id; 0 = none
  uint64_t start;     ///< ticks
  uint32_t duration;  ///< ticks, when they fit
  union {
    uint32_t extra;        ///< by kind
    uint32_t correlation;  ///< events; 0 = none
    struct {
      uint16_t payload_bytes;  ///< ranges: payload, padded to 8 bytes in the file
      uint16_t text_bytes;     ///< ranges and strings: text that follows the payload
    };
  };
};
static_assert(sizeof(Record) == 24);

/// The last 8 bytes of every record.
struct Tail {
  uint32_t tail;    ///< ranges: schema of the payload; events: lane; 0 = none
  uint32_t commit;  ///< see commit_word()
};

/// Optional, after the fixed part and a long duration.
struct Context {
  uint32_t stack;     ///< stack id; 0 = none
  uint32_t category;  ///< NVTX category; 0 = none
};

/// The word that makes a record valid: depends on the chunk's use and on the
/// record's first word, so that damage to kind, size or name shows.
constexpr uint32_t commit_word(uint32_t chunk_key, uint64_t first_word) {
  return chunk_key ^ static_cast<uint32_t>(first_word) ^ static_cast<uint32_t>(first_word >> 32);
}

/// A field of an `event` record; after Record and the optional parts, until the
/// tail. Integers of more than 32 bits and reals take a second word.
struct EventField {
  uint16_t key;  ///< Key of event.h; 0 = padding
  uint8_t type;  ///< FieldType
  uint8_t reserved;
  uint32_t value;  ///< small integers and string ids
};
enum class FieldType : uint8_t { unsigned_32, signed_32, text, signed_64, real };

/// One of several payloads of a range (kManyPayloads): data follows, padded to 8 bytes.
struct PayloadPart {
  uint32_t schema;
  uint32_t bytes;
};

/// Schema numbers below this are NVTX_PAYLOAD_ENTRY_TYPE_* of a bare value;
/// registered schemas count up from here within the process.
inline constexpr uint32_t kFirstSchema = 1024;
inline constexpr uint32_t kNvtxInt64 = 17, kNvtxUint64 = 18, kNvtxInt32 = 15, kNvtxUint32 = 16;
inline constexpr uint32_t kNvtxFloat = 19, kNvtxDouble = 20;

/// After the fixed part of a `schema` record: SchemaHead, then entries.
struct SchemaHead {
  uint32_t type;  ///< NVTX_PAYLOAD_SCHEMA_TYPE_*
  uint32_t entries;
  uint32_t static_bytes;  ///< 0 = unknown
  uint32_t pack;          ///< 0 = natural alignment
};
struct SchemaEntry {
  uint32_t type;   ///< NVTX_PAYLOAD_ENTRY_TYPE_* or a registered number
  uint32_t flags;  ///< NVTX_PAYLOAD_ENTRY_FLAG_*
  uint32_t name;   ///< string id
  uint32_t array;  ///< arrayOrUnionDetail
  uint32_t offset;
  uint32_t offset_given;  ///< 0: by alignment rules
};

/// After the fixed part of an `enumeration` record: EnumHead, then entries.
struct EnumHead {
  uint32_t bytes;  ///< size of a value
  uint32_t entries;
};
struct EnumEntry {
  uint64_t value;
  uint32_t name;  ///< string id
  uint32_t is_flag;
};

/// After the fixed part of a `lane` record.
struct Lane {
  int32_t device;
  uint32_t context;
  uint64_t stream;
};

/// After the fixed part of a `code` record; extra = code number.
struct PythonCode {
  uint32_t file;  ///< string id
  uint32_t first_line;
};
/// A frame with this bit is Python's: code number in bits 32 to 62, line below.
inline constexpr uint64_t kPythonFrame = 1ULL << 63;

/// After the fixed part of a `module` record; start = load bias.
struct Module {
  uint64_t text_begin;  ///< lowest executable address
  uint64_t text_end;
  uint64_t ticks;  ///< when it was seen
  uint8_t build_id_bytes;
  uint8_t build_id[31];
};

}  // namespace stallscope::segment
