#include "collect/range.h"

#include <string.h>

#include "collect/capture.h"
#include "collect/stack.h"

namespace stallscope::collect {
namespace {

using segment::Record;
using segment::RecordKind;

constexpr size_t kFixedBytes = sizeof(Record) + sizeof(segment::Tail);
constexpr size_t kSmallest = 2 * segment::kUnit;
static_assert(kFixedBytes == kSmallest);
// Leaves room for a long duration and a payload given at the end.
constexpr size_t kMaxPayload = 2048;
constexpr size_t kMaxText = segment::kMaxRecordBytes - kFixedBytes - sizeof(segment::Context) -
                            sizeof(uint64_t) - 2 * kMaxPayload + 512;

struct Shape {
  uint32_t payload = 0;
  uint32_t text = 0;
  uint32_t stack = 0;
  bool context = false;
  bool cut = false;
  size_t bytes = 0;
};

Shape shape_of(const RangeText& what, uint32_t stack) {
  Shape shape;
  shape.stack = stack;
  shape.context = stack != 0 || what.category != 0;
  shape.payload = what.payload_bytes;
  shape.text = what.text.tail_bytes;
  if (shape.payload > kMaxPayload) {
    // A payload cut in the middle would be misread: it goes as a whole.
    shape.payload = 0;
    shape.cut = true;
  }
  if (shape.text > kMaxText) {
    shape.text = kMaxText;
    shape.cut = true;
  }
  shape.bytes = round_up(kFixedBytes + (shape.context ? sizeof(segment::Context) : 0) +
                             round_up(shape.payload, 8) + round_up(shape.text, 8),
                         segment::kUnit);
  return shape;
}

// Writes a whole record except the commit word.
void write(uint8_t* place, RecordKind kind, const RangeText& what, const Shape& shape,
           uint64_t start, uint32_t duration) {
  Record head;
  head.kind = kind;
  head.units = static_cast<uint8_t>(shape.bytes / segment::kUnit);
  head.flags = static_cast<uint8_t>((shape.context ? segment::kContext : 0) |
                                    (shape.cut ? segment::kTruncated : 0) |
                                    (shape.payload > 0 ? what.flags : 0));
  head.detail = what.domain;
  head.name = what.text.name;
  head.start = start;
  head.duration = duration;
  head.payload_bytes = static_cast<uint16_t>(shape.payload);
  head.text_bytes = static_cast<uint16_t>(shape.text);
  memcpy(place, &head, sizeof head);
  uint8_t* next = place + sizeof head;
  if (shape.context) {
    const segment::Context context{shape.stack, what.category};
    memcpy(next, &context, sizeof context);
    next += sizeof context;
  }
  if (shape.payload > 0) {
    memcpy(next, what.payload, shape.payload);
    next += round_up(shape.payload, 8);
  }
  if (shape.text > 0) memcpy(next, what.text.tail, shape.text);
  const uint32_t schema = shape.payload > 0 ? what.schema : 0;
  memcpy(place + shape.bytes - sizeof(segment::Tail), &schema, sizeof schema);
}

void write_whole(Thread& thread, RecordKind kind, const RangeText& what, uint64_t start,
                 uint32_t duration, uint32_t stack) {
  const Shape shape = shape_of(what, stack);
  uint8_t* place = reserve(thread, shape.bytes);
  if (place == nullptr) return;
  write(place, kind, what, shape, start, duration);
  commit(thread, place, shape.bytes);
}

// The index of the innermost begun range of `domain`; open_count when there is none.
uint32_t innermost(const Thread& thread, uint8_t domain) {
  for (uint32_t i = thread.open_count; i > 0; --i) {
    const auto* entry =
        reinterpret_cast<const Record*>(thread.block->open + thread.open_offset[i - 1]);
    if (entry->detail == domain && entry->kind == RecordKind::range) return i - 1;
  }
  return thread.open_count;
}

// Takes range `index` off the block: the last one by lowering the top, another
// (domains interleave) by marking it dead until it is the last.
void drop(Thread& thread, uint32_t index) {
  auto* entry = reinterpret_cast<Record*>(thread.block->open + thread.open_offset[index]);
  --thread.depth[entry->detail];
  entry->kind = RecordKind::none;
  while (thread.open_count > 0) {
    auto* last = thread.block->open + thread.open_offset[thread.open_count - 1];
    if (reinterpret_cast<Record*>(last)->kind != RecordKind::none) break;
    --thread.open_count;
    thread.open_top = last;
  }
  __atomic_store_n(&thread.block->used, static_cast<uint32_t>(thread.open_top - thread.block->open),
                   __ATOMIC_RELEASE);
}

// A range that lasted too long for 32 bits of ticks, or got a payload at its
// end: copied part by part.
void write_extended(Thread& thread, const uint8_t* entry, uint64_t duration,
                    const RangeText* more) {
  Record head;
  memcpy(&head, entry, sizeof head);
  const size_t old_bytes = head.units * segment::kUnit;
  uint8_t record[segment::kMaxRecordBytes];
  size_t used = sizeof head;
  const auto append = [&](const void* data, size_t bytes, size_t padded) {
    memset(record + used, 0, padded);
    memcpy(record + used, data, bytes);
    used += padded;
  };
  const bool is_long = duration >> 32 != 0;
  if (is_long) append(&duration, sizeof duration, sizeof duration);
  const uint8_t* next = entry + sizeof head;
  if ((head.flags & segment::kContext) != 0) {
    append(next, sizeof(segment::Context), sizeof(segment::Context));
    next += sizeof(segment::Context);
  }
  uint32_t schema;
  memcpy(&schema, entry + old_bytes - sizeof(segment::Tail), sizeof schema);
  const size_t payload = head.payload_bytes;
  const size_t payload_begin = used;
  const bool adds =
      more != nullptr && more->payload_bytes > 0 && more->payload_bytes <= kMaxPayload;
  if (adds && payload > 0 && (head.flags & segment::kManyPayloads) == 0) {
    const segment::PayloadPart part{schema, static_cast<uint32_t>(payload)};
    append(&part, sizeof part, sizeof part);
  }
  append(next, payload, round_up(payload, 8));
  next += round_up(payload, 8);
  if (adds) {
    if ((more->flags & segment::kManyPayloads) == 0) {
      const segment::PayloadPart part{more->schema, more->payload_bytes};
      append(&part, sizeof part, sizeof part);
    }
    append(more->payload, more->payload_bytes, round_up(more->payload_bytes, 8));
    head.flags |= segment::kManyPayloads;
    head.payload_bytes = static_cast<uint16_t>(used - payload_begin);
  }
  const size_t room = segment::kMaxRecordBytes - sizeof(segment::Tail) - used;
  if (head.text_bytes > room) {
    head.text_bytes = static_cast<uint16_t>(room / 8 * 8);
    head.flags |= segment::kTruncated;
  }
  append(next, head.text_bytes, round_up(head.text_bytes, 8));
  const size_t bytes = round_up(used + sizeof(segment::Tail), segment::kUnit);
  head.units = static_cast<uint8_t>(bytes / segment::kUnit);
  head.duration = is_long ? 0 : static_cast<uint32_t>(duration);
  if (is_long) head.flags |= segment::kLongDuration;
  memcpy(record, &head, sizeof head);
  uint8_t* place = reserve(thread, bytes);
  if (place == nullptr) return;
  memset(record + used, 0, bytes - used);
  memcpy(record + bytes - sizeof(segment::Tail), &schema, sizeof schema);
  memcpy(place, record, bytes - sizeof(uint32_t));
  commit(thread, place, bytes);
}

__attribute__((noinline)) int begin_overflowing(Thread& thread, uint8_t domain) {
  // Deeper than any program nests on purpose: lost, and its end with it.
  ++thread.overflow;
  count_lost(*g_session);
  return static_cast<int>(thread.depth[domain]++);
}

}  // namespace

int begin_range(const RangeText& what) {
  Thread* thread = this_thread();
  if (thread == nullptr) return 0;
  if (__builtin_expect(g_watches_ranges, 0)) range_begins(what.text.name);
  const uint32_t stack =
      what.stack_policy == 0 || is_paused() ? 0 : take_stack(*thread, what.stack_policy);
  const Shape shape = shape_of(what, stack);
  if (__builtin_expect(
          thread->open_top + shape.bytes > thread->open_limit || thread->open_count >= kMaxOpen, 0))
    return begin_overflowing(*thread, what.domain);
  uint8_t* entry = thread->open_top;
  if (shape.bytes == kSmallest && !shape.context && !shape.cut) {
    // The usual range: a name and nothing else, in four words.
    const uint64_t words[] = {static_cast<uint64_t>(RecordKind::range) | 2ULL << 8 |
                                  static_cast<uint64_t>(what.domain) << 24 |
                                  static_cast<uint64_t>(what.text.name) << 32,
                              ticks(), 0, 0};
    memcpy(entry, words, sizeof words);
  } else {
    write(entry, RecordKind::range, what, shape, ticks(), 0);
  }
  thread->open_offset[thread->open_count++] = static_cast<uint16_t>(entry - thread->block->open);
  thread->open_top = entry + shape.bytes;
  __atomic_store_n(&thread->block->used,
                   static_cast<uint32_t>(thread->open_top - thread->block->open), __ATOMIC_RELEASE);
  return thread->depth[what.domain]++;
}

int end_range(uint8_t domain, const RangeText* more) {
  Thread* thread = this_thread();
  if (thread == nullptr) return -1;
  if (__builtin_expect(thread->overflow > 0, 0)) {
    --thread->overflow;
    return --thread->depth[domain];
  }
  uint32_t index = thread->open_count;
  if (index == 0) return -1;
  --index;
  uint8_t* entry = thread->block->open + thread->open_offset[index];
  if (__builtin_expect(reinterpret_cast<Record*>(entry)->detail != domain, 0)) {
    index = innermost(*thread, domain);
    if (index == thread->open_count) return -1;
    entry = thread->block->open + thread->open_offset[index];
  }
  Record head;
  memcpy(&head, entry, sizeof head);
  const uint64_t duration = ticks() - head.start;
  if (!is_paused()) {
    const size_t bytes = head.units * segment::kUnit;
    if (__builtin_expect(more != nullptr || duration >> 32 != 0, 0)) {
      write_extended(*thread, entry, duration, more);
    } else if (uint8_t* place = reserve(*thread, bytes)) {
      for (size_t at = 0; at < bytes; at += segment::kUnit)
        memcpy(place + at, entry + at, segment::kUnit);
      const auto brief = static_cast<uint32_t>(duration);
      memcpy(place + offsetof(Record, duration), &brief, sizeof brief);
      commit(*thread, place, bytes);
    }
  }
  if (__builtin_expect(g_watches_ranges, 0)) range_ends(head.name);
  drop(*thread, index);
  return thread->depth[domain];
}

void mark(const RangeText& what) {
  Thread* thread = this_thread();
  if (thread == nullptr || is_paused()) return;
  const uint32_t stack = what.stack_policy == 0 ? 0 : take_stack(*thread, what.stack_policy);
  write_whole(*thread, RecordKind::mark, what, ticks(), 0, stack);
}

uint64_t start_range(const RangeText& what) {
  Thread* thread = this_thread();
  if (thread == nullptr) return 1;
  uint32_t number = __atomic_add_fetch(&g_session->next_range, 1, __ATOMIC_RELAXED);
  if (number == 0) number = __atomic_add_fetch(&g_session->next_range, 1, __ATOMIC_RELAXED);
  if (__builtin_expect(g_watches_ranges, 0)) started_range_begins(what.text.name);
  if (is_paused()) return number;
  const uint32_t stack = what.stack_policy == 0 ? 0 : take_stack(*thread, what.stack_policy);
  write_whole(*thread, RecordKind::range_start, what, ticks(), number, stack);
  return number;
}

void end_started_range(uint64_t number, const RangeText* more) {
  const uint64_t now = ticks();
  Thread* thread = this_thread();
  if (thread == nullptr || is_paused()) return;
  const RangeText nothing;
  write_whole(*thread, RecordKind::range_end, more != nullptr ? *more : nothing, now,
              static_cast<uint32_t>(number), 0);
}

void measure_record_path(Session& session) {
  // The stores go to a scratch page; the fastest of a few rounds is the cost
  // without cache misses and interruptions.
  constexpr int kRounds = 8, kRanges = 64;
  uint8_t scratch[64];
  uint64_t best = ~0ULL;
  RangeText what;
  what.text.name = 1;
  const Shape shape = shape_of(what, 0);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t begin = ticks();
    for (int i = 0; i < kRanges; ++i) {
      write(scratch, RecordKind::range, what, shape, ticks(), 0);
      const uint64_t end = ticks();
      memcpy(scratch + 32, &end, sizeof end);
      __asm__ volatile("" : : "r"(scratch) : "memory");
    }
    const uint64_t cost = (ticks() - begin) / kRanges;
    if (cost < best) best = cost;
  }
  session.header->range_cost_ticks = static_cast<uint32_t>(best);
}

}  // namespace stallscope::collect
