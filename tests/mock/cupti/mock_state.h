// What the mock keeps between CUPTI's calls and the commands of a script.
#pragma once

#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mock_cupti {

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0;
};

struct State {
  std::recursive_mutex mutex;  ///< one for everything: CUPTI delivers from any thread
  CUpti_CallbackFunc callback = nullptr;
  void* callback_data = nullptr;
  std::set<std::pair<int, uint32_t>> enabled_callbacks;
  std::set<int> enabled_domains;
  std::set<int> enabled_kinds;
  std::set<std::pair<int, uint32_t>> silenced_calls;
  CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;
  Buffer current;
  std::vector<std::vector<uint8_t>> held;
  bool holding = false, stolen = false;
  size_t dropped = 0;
  std::set<std::string> names;  ///< names outlive records, as CUPTI's do
  std::map<std::pair<int, uint32_t>, const char*> call_names;

  const char* keep(const std::string& name) { return names.insert(name).first->c_str(); }
  bool calls_back(CUpti_CallbackDomain domain, uint32_t cbid) const {
    return callback != nullptr &&
           (enabled_domains.contains(domain) || enabled_callbacks.contains({domain, cbid}));
  }
};
State& state();

/// CUPTI's default clock on Linux.
uint64_t now_ns();

/// Gives the filled buffer to the client.
void deliver();

/// Appends a record as the version in force lays it out, when its kind is enabled.
void emit_bytes(CUpti_ActivityKind kind, const void* record, size_t size);

template <typename Record>
void emit(CUpti_ActivityKind kind, Record record) {
  record.kind = kind;
  emit_bytes(kind, &record, sizeof record);
}

}  // namespace mock_cupti
