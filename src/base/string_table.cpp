#include "base/string_table.h"

#include <cstring>
#include <functional>

namespace stallscope {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr size_t kBlockBytes = 64 * 1024;

uint64_t hash_text(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

}  // namespace

StringTable::StringTable() : slots_(kFirstSlots, 0) {
  intern("");
}

size_t StringTable::slot_of(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == static_cast<uint32_t>(hash) && texts_[id] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

StringId StringTable::intern(std::string_view text) {
  const uint64_t hash = hash_text(text);
  size_t slot = slot_of(text, hash);
  if (slots_[slot] != 0) return slots_[slot] - 1;
  if ((texts_.size() + 1) * 2 > slots_.size()) {
    grow();
    slot = slot_of(text, hash);
  }
  texts_.push_back(store(text));
  hashes_.push_back(static_cast<uint32_t>(hash));
  slots_[slot] = static_cast<uint32_t>(texts_.size());
  bytes_ += text.size();
  return static_cast<StringId>(texts_.size() - 1);
}

StringId StringTable::find(std::string_view text) const {
  const size_t slot = slot_of(text, hash_text(text));
  return slots_[slot] == 0 ? 0 : slots_[slot] - 1;
}

void StringTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < texts_.size(); ++id) {
    size_t slot = hash_text(texts_[id]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

std::string_view StringTable::store(std::string_view text) {
  if (text.empty()) return {};
  if (block_used_ + text.size() > block_size_) {
    block_size_ = text.size() > kBlockBytes ? text.size() : kBlockBytes;
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    block_used_ = 0;
  }
  char* place = blocks_.back().get() + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return {place, text.size()};
}

}  // namespace stallscope
