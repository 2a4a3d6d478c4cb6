#include "record/native_walk.h"

#include <algorithm>
#include <cstring>

namespace stallscope {

bool StackCopy::mentions(uint64_t first, uint64_t last, std::span<const uint64_t> registers) const {
  const auto fits = [&](uint64_t word) { return word - first <= last - first; };
  if (std::ranges::any_of(registers, fits)) return true;
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (fits(word)) return true;
  }
  return false;
}

NativeWalk::Known NativeWalk::known_at(uint64_t address, Ns now) {
  if (const auto it = known_.find(address); it != known_.end()) return it->second;
  Known known{.module = modules_.find(address, now), .rule = {}};
  // An object that is not known yet will be when the mappings are read again.
  if (known.module == nullptr) return known;
  if (known.module->object != nullptr)
    known.rule = known.module->object->rule_at(address - known.module->bias);
  return known_.emplace(address, known).first->second;
}

const std::vector<NativeFunction>& NativeWalk::functions(const StackCopy& copy, Ns now) {
  functions_.clear();
  // Bounded, and forgotten when an object was unloaded.
  constexpr size_t kMostKnown = 100'000;
  if (known_.size() >= kMostKnown || generation_ != modules_.generation()) {
    known_.clear();
    generation_ = modules_.generation();
  }
  const uint64_t high = copy.stack + copy.bytes.size();
  const auto word_at = [&](uint64_t address, uint64_t& word) {
    if (address < copy.stack || address > high || high - address < sizeof word) return false;
    std::memcpy(&word, copy.bytes.data() + (address - copy.stack), sizeof word);
    return true;
  };
  uint64_t address = copy.instruction, stack = copy.stack;
  std::optional<uint64_t> frame = copy.frame;
  bool only_c_library = true;
  while (functions_.size() < kMostFunctions && address != 0) {
    // A return address lies behind its call, which may be the function's last instruction.
    const Known known = known_at(functions_.empty() ? address : address - 1, now);
    if (known.module == nullptr || known.module->role == NativeModule::Role::interpreter) break;
    const UnwindRule& rule = known.rule;
    const uint64_t function = rule.function != 0 ? rule.function : address - known.module->bias;
    functions_.push_back({known.module, function});
    only_c_library = only_c_library && known.module->role == NativeModule::Role::c_library;
    uint64_t top = 0;
    if (rule.kind == UnwindRule::kStackPointer)
      top = stack + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
    else if (rule.kind == UnwindRule::kFramePointer && frame)
      top = *frame + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
    else
      break;
    if (top <= stack) break;  // callers lie higher
    uint64_t saved = 0;
    if (rule.saves_frame_pointer) {
      if (!word_at(top + static_cast<uint64_t>(static_cast<int64_t>(rule.saved_at)), saved)) break;
      frame = saved;
    }
    if (!word_at(top - sizeof(uint64_t), address)) break;
    stack = top;
  }
  if (only_c_library) functions_.clear();
  return functions_;
}

}  // namespace stallscope
