#include "record/python_lock.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/units.h"

namespace stallscope {
namespace {

constexpr uint64_t kInterval = 5000;
constexpr int kMostTries = 20;

}  // namespace

void PythonLock::find(uint64_t interpreter, std::span<const uint64_t> thread_states) {
  if (found() || thread_states.empty() || tries_ >= kMostTries) return;
  ++tries_;
  // Until 3.11 the runtime has the lock, near its begin; later the interpreter has it.
  const uint64_t begin = runtime_.layout->minor <= 11 ? runtime_.runtime : interpreter;
  // Page by page: what lies there may end anywhere.
  constexpr uint64_t kMost = 512 * 1024;
  std::vector<uint8_t> bytes;
  for (uint64_t at = begin; at < begin + kMost;) {
    const uint64_t piece = kPage - at % kPage;
    bytes.resize(bytes.size() + piece);
    if (!memory_.read(at, bytes.data() + (at - begin), piece)) {
      bytes.resize(bytes.size() - piece);
      break;
    }
    at += piece;
  }
  for (size_t offset = 0; offset + sizeof(Words) <= bytes.size(); offset += sizeof(uint64_t)) {
    Words lock;
    std::memcpy(&lock, bytes.data() + offset, sizeof lock);
    if (lock.interval_us != kInterval || lock.locked > 1 ||
        std::ranges::find(thread_states, lock.last_holder) == thread_states.end())
      continue;
    address_ = begin + offset;
    return;
  }
}

bool PythonLock::is_waited_for_at(uint64_t futex) const {
  // Words, then two pairs of pthread_cond_t and pthread_mutex_t and a count of switches.
  constexpr uint64_t kBytes = sizeof(Words) + 8 + 2 * (48 + 40);
  return found() && futex >= address_ && futex < address_ + kBytes;
}

std::optional<uint64_t> PythonLock::holder() const {
  if (!found()) return std::nullopt;
  const std::optional<Words> words = memory_.get<Words>(address_);
  return words ? holder_of(*words) : std::nullopt;
}

std::optional<uint64_t> PythonLock::holder_of(const Words& words) {
  if (words.interval_us != kInterval) return std::nullopt;
  return words.locked == 1 ? words.last_holder : 0;
}

}  // namespace stallscope
