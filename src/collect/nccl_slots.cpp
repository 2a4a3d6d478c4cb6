#include "collect/nccl_slots.h"

#include <stddef.h>
#include <string.h>

namespace stallscope::nccl {
namespace {

constexpr size_t kWords = sizeof(OpenEvent) / sizeof(uint64_t);
static_assert(sizeof(OpenEvent) % sizeof(uint64_t) == 0);

// Claimed in turn and given back without a lock. What a slot held stays readable until its turn
// comes again: then its generation tells that a handle is old. Words, because it may be taken while
// somebody reads it: each is written after the generation was cleared, and read before it is asked
// for again.
struct Slot {
  uint64_t generation;
  int busy;
  uint64_t event[kWords];
};
constexpr size_t kBytesWord =
    (offsetof(OpenEvent, record) + offsetof(CollectiveRecord, bytes)) / sizeof(uint64_t);
constexpr unsigned kSlots = 2048;
constexpr int kTries = 16;
Slot slots[kSlots];
unsigned next_slot = 0;

void write_event(Slot& slot, const OpenEvent& event) {
  uint64_t words[kWords];
  memcpy(words, &event, sizeof words);
  for (size_t i = 0; i < kWords; ++i) __atomic_store_n(&slot.event[i], words[i], __ATOMIC_RELEASE);
}

void read_event(const Slot& slot, OpenEvent& event) {
  uint64_t words[kWords];
  for (size_t i = 0; i < kWords; ++i) words[i] = __atomic_load_n(&slot.event[i], __ATOMIC_ACQUIRE);
  memcpy(&event, words, sizeof words);
}

void* handle_of(const Slot& slot) {
  return reinterpret_cast<void*>(slot.generation * kSlots + static_cast<uint64_t>(&slot - slots));
}

// nullptr when the slot's turn has come again.
Slot* slot_of(void* handle) {
  const auto number = reinterpret_cast<uint64_t>(handle);
  Slot& slot = slots[number % kSlots];
  const uint64_t generation = __atomic_load_n(&slot.generation, __ATOMIC_ACQUIRE);
  return generation != 0 && generation == number / kSlots ? &slot : nullptr;
}

}  // namespace

void* open_event(const OpenEvent& event) {
  for (int tries = 0; tries < kTries; ++tries) {
    Slot& slot = slots[__atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED) % kSlots];
    int free = 0;
    if (!__atomic_compare_exchange_n(&slot.busy, &free, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    const uint64_t generation = slot.generation + 1;
    __atomic_store_n(&slot.generation, 0, __ATOMIC_RELEASE);
    write_event(slot, event);
    __atomic_store_n(&slot.generation, generation, __ATOMIC_RELEASE);
    return handle_of(slot);
  }
  return nullptr;
}

bool find_event(void* handle, OpenEvent& event) {
  const Slot* const slot = slot_of(handle);
  if (slot == nullptr) return false;
  read_event(*slot, event);
  return slot_of(handle) == slot;  // else it was taken while it was read
}

void add_bytes(void* handle, size_t bytes) {
  if (Slot* const slot = slot_of(handle))
    __atomic_add_fetch(&slot->event[kBytesWord], bytes, __ATOMIC_RELAXED);
}

bool close_event(void* handle, OpenEvent& event) {
  Slot* const slot = slot_of(handle);
  int busy = 1;
  if (slot == nullptr || !find_event(handle, event) ||
      !__atomic_compare_exchange_n(&slot->busy, &busy, 0, false, __ATOMIC_RELEASE,
                                   __ATOMIC_RELAXED))
    return false;
  return true;
}

}  // namespace stallscope::nccl
