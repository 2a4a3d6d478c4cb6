// Stacks by number: equal stacks are stored once.
#include "collect/stack.h"

#include <string.h>

#include "collect/definitions.h"
#include "collect/native_stack.h"
#include "collect/python_stack.h"
#include "collect/thread.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kSlots = 1 << 15;
constexpr uint32_t kMaxStacks = 1 << 14;

struct Slot {
  uint64_t key;  ///< 0 = empty; written last
  uint32_t stack;
  uint32_t reserved;
};

// Kept by a forked child, as the log of definitions is.
Slot* g_slots = nullptr;
uint32_t g_stack_count = 0;

uint64_t mix(uint64_t hash, uint64_t value) {
  const auto product = static_cast<unsigned __int128>(hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t hash_words(uint64_t seed, const uint64_t* words, size_t count) {
  uint64_t hash = mix(seed, count + 1);
  for (size_t i = 0; i < count; ++i) hash = mix(hash, words[i]);
  return hash == 0 ? 1 : hash;
}

// The slot of `key`, or the free slot where it would go.
Slot* slot_of(uint64_t key) {
  uint32_t index = static_cast<uint32_t>(key) & (kSlots - 1);
  for (;;) {
    const uint64_t found = __atomic_load_n(&g_slots[index].key, __ATOMIC_ACQUIRE);
    if (found == 0 || found == key) return &g_slots[index];
    index = (index + 1) & (kSlots - 1);
  }
}

uint32_t define_stack(const uint64_t* frames, size_t count, uint64_t key) {
  const Locked locked(g_session->number_lock);
  if (!locked) return 0;
  Slot* slot = slot_of(key);
  if (slot->key == key) return slot->stack;
  if (g_stack_count >= kMaxStacks) return 0;
  segment::Record head{};
  head.kind = segment::RecordKind::stack;
  head.name = g_stack_count + 1;
  head.extra = static_cast<uint32_t>(count);
  if (!define(head, frames, count * sizeof frames[0], 0)) return 0;
  slot->stack = ++g_stack_count;
  __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
  __atomic_store_n(&g_session->modules_stale, 1, __ATOMIC_RELAXED);
  return slot->stack;
}

}  // namespace

bool prepare_stacks() {
  if (g_slots == nullptr) g_slots = static_cast<Slot*>(map_private(kSlots * sizeof(Slot)));
  return g_slots != nullptr && prepare_unwinding();
}

uint32_t take_stack(Thread& thread, uint8_t policy) {
  if (policy == kNoStack || policy > kStackLaunch) return 0;
  uint64_t frames[kMaxFrames];
  uint64_t python[kMaxPythonFrames];
  const size_t count = g_options.native_stacks ? walk_native(thread, frames) : 0;
  const size_t python_count = g_options.python_stacks ? walk_python(python) : 0;
  const uint64_t key = hash_words(hash_words(0x5374616b, frames, count), python, python_count);
  const Slot* slot = slot_of(key);
  // Compared again: a free slot may just have been taken for another stack.
  if (__atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) == key) return slot->stack;
  if (count + python_count == 0) return 0;
  uint64_t both[kMaxFrames + kMaxPythonFrames];
  memcpy(both, frames, count * sizeof frames[0]);
  memcpy(both + count, python, python_count * sizeof python[0]);
  return define_stack(both, count + python_count, key);
}

}  // namespace stallscope::collect
