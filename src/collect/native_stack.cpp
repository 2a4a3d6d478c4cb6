#include "collect/native_stack.h"

#include <pthread.h>

#include "collect/modules.h"
#include "collect/thread.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kSlots = 1 << 16;
constexpr uint32_t kMaxProbes = 16;

/// A rule by return address. Threads may write the same slot at once, each the
/// same content; `address` is written last.
struct RuleSlot {
  uint64_t address;  ///< 0 = empty
  int32_t cfa_offset;
  int32_t saved_at;
  uint32_t unloads;  ///< unload_count() when it was read
  uint8_t kind;
  bool saves_frame_pointer;
  uint16_t reserved;
};

RuleSlot* g_rules = nullptr;

// Where the thread's stack lies. Costs 187 us on the main thread: asked once.
void find_stack(Thread& thread) {
  thread.stack_low = 1;  // asked, not found
  thread.stack_high = 1;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    thread.stack_low = reinterpret_cast<uintptr_t>(low);
    thread.stack_high = thread.stack_low + bytes;
  }
  pthread_attr_destroy(&attributes);
}

__attribute__((noinline)) UnwindRule read_rule(uint64_t return_address) {
  // The call, not what follows it, decides: it may be the function's last instruction.
  const uint64_t call = return_address - 1;
  UnwindObject object = object_at(call);
  if (object.end == 0) {
    note_modules(*g_session);
    object = object_at(call);
  }
  return object.end == 0 ? UnwindRule{} : find_rule(object, call);
}

UnwindRule rule_at(uint64_t return_address) {
  const uint32_t unloads = unload_count();
  auto index = static_cast<uint32_t>((return_address * 0x9e3779b97f4a7c15ULL) >> 48);
  RuleSlot* free_slot = nullptr;
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe, index = (index + 1) & (kSlots - 1)) {
    RuleSlot& slot = g_rules[index];
    const uint64_t address = __atomic_load_n(&slot.address, __ATOMIC_ACQUIRE);
    if (address == return_address && slot.unloads == unloads)
      return {.kind = static_cast<UnwindRule::Kind>(slot.kind),
              .saves_frame_pointer = slot.saves_frame_pointer,
              .cfa_offset = slot.cfa_offset,
              .saved_at = slot.saved_at};
    if (address == 0 || address == return_address || slot.unloads != unloads) {
      free_slot = &slot;
      break;
    }
  }
  const UnwindRule rule = read_rule(return_address);
  const Locked locked(g_session->number_lock);
  if (locked && free_slot != nullptr &&
      (free_slot->address == 0 || free_slot->unloads != unloads)) {
    __atomic_store_n(&free_slot->address, 0, __ATOMIC_RELEASE);
    free_slot->kind = rule.kind;
    free_slot->saves_frame_pointer = rule.saves_frame_pointer;
    free_slot->cfa_offset = rule.cfa_offset;
    free_slot->saved_at = rule.saved_at;
    free_slot->unloads = unloads;
    __atomic_store_n(&free_slot->address, return_address, __ATOMIC_RELEASE);
  }
  return rule;
}

uint64_t word_at(uint64_t address) {
  return *reinterpret_cast<const uint64_t*>(address);
}

}  // namespace

bool prepare_unwinding() {
  if (g_rules == nullptr) g_rules = static_cast<RuleSlot*>(map_private(kSlots * sizeof(RuleSlot)));
  return g_rules != nullptr;
}

__attribute__((noinline)) size_t walk_native(Thread& thread, uint64_t (&addresses)[kMaxFrames]) {
  if (thread.stack_high == 0) find_stack(thread);
  // The recorder itself is built with frame pointers: the first step is known.
  auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (frame < thread.stack_low || frame + 16 > thread.stack_high) return 0;  // a fiber
  const uint64_t high = thread.stack_high;
  uint64_t address = word_at(frame + 8), stack = frame + 16;
  frame = word_at(frame);
  size_t count = 0;
  while (count < kMaxFrames && address >= 4096) {
    addresses[count++] = address;
    const UnwindRule rule = rule_at(address);
    uint64_t top = 0;
    bool saved = rule.saves_frame_pointer;
    int64_t saved_at = rule.saved_at;
    switch (rule.kind) {
      case UnwindRule::kStackPointer:
        top = stack + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        break;
      case UnwindRule::kFramePointer:
        top = frame + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        break;
      case UnwindRule::kUnknown:
        top = frame + 16;
        saved = true;
        saved_at = -16;
        break;
      case UnwindRule::kEnd:
        return count;
    }
    // Callers lie higher in the stack; anything else is not a frame.
    if (top <= stack || top > high || (top & 7) != 0) return count;
    if (saved) {
      const uint64_t place = top + static_cast<uint64_t>(saved_at);
      if (place < stack || place + 8 > high) return count;
      frame = word_at(place);
    }
    address = word_at(top - 8);
    stack = top;
  }
  return count;
}

}  // namespace stallscope::collect
