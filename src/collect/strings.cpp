// The string table: read without a lock by every thread, grown under one.
#include <string.h>

#include "collect/capture.h"
#include "collect/definitions.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kSlots = 1 << 15;
constexpr uint64_t kMaxTextBytes = 4 << 20;
// As many endings of one stem are kept as strings of their own ("layer.0" to
// "layer.47" cost nothing per event then); later ones go with the event.
constexpr uint32_t kMaxSiblings = 96;
constexpr size_t kMaxDigits = 20;
constexpr size_t kMaxTextPerRecord =
    segment::kMaxRecordBytes - sizeof(segment::Record) - sizeof(segment::Tail);

struct Slot {
  uint64_t hash;
  const char* text;
  uint32_t bytes;
  uint32_t siblings;  ///< strings that have this one as their stem
  uint32_t id;        ///< 0 = empty; written last
  uint32_t reserved;
};

Slot* g_slots = nullptr;
uint32_t g_string_count = 0;
uint64_t g_text_bytes = 0;
char* g_text_block = nullptr;
size_t g_text_left = 0;

uint64_t fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t load(const char* text, size_t bytes) {
  uint64_t word = 0;
  if (bytes >= 8) {
    memcpy(&word, text, 8);
  } else if (bytes >= 4) {
    uint32_t low, high;
    memcpy(&low, text, 4);
    memcpy(&high, text + bytes - 4, 4);
    word = low | static_cast<uint64_t>(high) << 32;
  } else if (bytes > 0) {
    word = static_cast<uint64_t>(static_cast<uint8_t>(text[0])) |
           static_cast<uint64_t>(static_cast<uint8_t>(text[bytes / 2])) << 8 |
           static_cast<uint64_t>(static_cast<uint8_t>(text[bytes - 1])) << 16;
  }
  return word;
}

// Multiply and fold, in the manner of wyhash; the constants are its primes.
uint64_t hash_text(const char* text, size_t bytes) {
  uint64_t hash = bytes * 0xa0761d6478bd642fULL;
  while (bytes > 8) {
    hash = fold(hash ^ load(text, 8), 0xe7037ed1a0b428dbULL);
    text += 8;
    bytes -= 8;
  }
  return fold(hash ^ load(text, bytes), 0x8ebc6af09c88c6e3ULL);
}

/// The slot of a text and its number, or the free slot where it would go. The
/// number is read once: a free slot may be taken for another text at any moment.
struct Found {
  Slot* slot;
  uint32_t id;
};

Found find(const char* text, size_t bytes, uint64_t hash) {
  uint32_t index = static_cast<uint32_t>(hash) & (kSlots - 1);
  for (;;) {
    Slot& slot = g_slots[index];
    const uint32_t id = __atomic_load_n(&slot.id, __ATOMIC_ACQUIRE);
    if (id == 0) return {&slot, 0};
    if (slot.hash == hash && slot.bytes == bytes && memcmp(slot.text, text, bytes) == 0)
      return {&slot, id};
    index = (index + 1) & (kSlots - 1);
  }
}

const char* keep(const char* text, size_t bytes) {
  constexpr size_t kBlock = 256 * 1024;
  if (bytes > g_text_left) {
    g_text_block = static_cast<char*>(map_private(kBlock));
    if (g_text_block == nullptr) return nullptr;
    g_text_left = kBlock;
  }
  char* place = g_text_block;
  memcpy(place, text, bytes);
  g_text_block += bytes;
  g_text_left -= bytes;
  return place;
}

uint32_t add(const char* text, size_t bytes, uint64_t hash) {
  const Locked locked(g_session->string_lock);
  if (!locked) return 0;
  const auto [slot, known] = find(text, bytes, hash);
  if (known != 0) return known;
  if (g_string_count >= kMaxStrings || g_text_bytes + bytes > kMaxTextBytes) return 0;
  const char* kept = keep(text, bytes);
  if (kept == nullptr) return 0;
  const uint32_t id = g_string_count + 1;
  segment::Record head{};
  head.kind = segment::RecordKind::string;
  head.name = id;
  head.text_bytes = static_cast<uint16_t>(bytes);
  if (!define(head, text, bytes, 0)) return 0;
  slot->hash = hash;
  slot->text = kept;
  slot->bytes = static_cast<uint32_t>(bytes);
  classify_step_name(id, text, bytes);
  __atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
  g_string_count = id;
  g_text_bytes += bytes;
  return id;
}

// Where the part that varies begins: ", key = value" at the end, else digits at
// the end. 0 = nowhere.
size_t split_point(const char* text, size_t bytes) {
  const auto* comma = static_cast<const char*>(memchr(text, ',', bytes));
  if (comma != nullptr && comma > text) {
    const size_t rest = bytes - static_cast<size_t>(comma - text);
    if (rest > 3 && comma[1] == ' ' && memchr(comma, '=', rest) != nullptr)
      return static_cast<size_t>(comma - text);
  }
  size_t digits = bytes;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  return digits < bytes && bytes - digits <= kMaxDigits ? digits : 0;
}

// A stem, added when new; number 0 when the table is full.
Found find_stem(const char* text, size_t bytes) {
  const uint64_t hash = hash_text(text, bytes);
  const Found found = find(text, bytes, hash);
  if (found.id != 0 || add(text, bytes, hash) == 0) return found;
  return find(text, bytes, hash);
}

SplitText with_tail(uint32_t stem, const char* text, size_t bytes, size_t split) {
  return {stem, static_cast<uint32_t>(bytes - split), text + split};
}

bool is_full(const Found& stem) {
  return stem.id != 0 && __atomic_load_n(&stem.slot->siblings, __ATOMIC_RELAXED) >= kMaxSiblings;
}

SplitText resolve_unseen(const char* text, size_t bytes, uint64_t hash) {
  const size_t split = split_point(text, bytes);
  const Found stem = split > 0 ? find_stem(text, split) : Found{nullptr, 0};
  if (!is_full(stem)) {
    if (const uint32_t id = add(text, bytes, hash)) {
      if (stem.id != 0) __atomic_add_fetch(&stem.slot->siblings, 1, __ATOMIC_RELAXED);
      return {id, 0, nullptr};
    }
  }
  if (stem.id != 0) return with_tail(stem.id, text, bytes, split);
  if (is_active(g_session))
    __atomic_add_fetch(&g_session->header->inline_texts, 1, __ATOMIC_RELAXED);
  return {0, static_cast<uint32_t>(bytes), text};
}

}  // namespace

bool prepare_definitions() {
  if (g_slots != nullptr) return true;
  g_slots = static_cast<Slot*>(map_private(sizeof(Slot) * kSlots));
  return g_slots != nullptr;
}

uint32_t intern(const char* text, size_t bytes) {
  if (bytes == 0) return 0;
  if (bytes > kMaxTextPerRecord) bytes = kMaxTextPerRecord;
  const uint64_t hash = hash_text(text, bytes);
  const uint32_t known = find(text, bytes, hash).id;
  return known != 0 ? known : add(text, bytes, hash);
}

SplitText resolve(const char* text, size_t bytes) {
  if (bytes == 0) return {};
  if (bytes > kMaxTextPerRecord) bytes = kMaxTextPerRecord;
  const bool counted = text[bytes - 1] >= '0' && text[bytes - 1] <= '9';
  if (counted) {
    // A name that is new each time is told by its stem, which lies in a cache;
    // looking for the whole of it would read a far corner of the table in vain.
    const size_t split = split_point(text, bytes);
    const Found stem = split > 0 ? find(text, split, hash_text(text, split)) : Found{nullptr, 0};
    if (is_full(stem)) return with_tail(stem.id, text, bytes, split);
  }
  const uint64_t hash = hash_text(text, bytes);
  const uint32_t known = find(text, bytes, hash).id;
  if (__builtin_expect(known != 0, 1)) return {known, 0, nullptr};
  return resolve_unseen(text, bytes, hash);
}

}  // namespace stallscope::collect
