// The objects whose code a process runs, by address.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "record/object_file.h"

namespace stallscope {

struct NativeModule {
  /// Whose code it is, as far as that decides what a sample shows of it.
  enum class Role : uint8_t { other, interpreter, c_library };
  std::string path;
  Role role = Role::other;
  const ObjectFile* object = nullptr;  ///< nullptr: not a file that can be read
  uint64_t begin = 0, end = 0;         ///< of the code in the process
  uint64_t bias = 0;                   ///< address in the process minus address in the file
};

class NativeModules {
 public:
  /// `runtime`: an address inside the interpreter's object.
  NativeModules(pid_t pid, uint64_t runtime) : pid_(pid), runtime_(runtime) {}

  /// What is mapped at an address; nullptr for code of no object. The pointer stays good.
  const NativeModule* find(uint64_t address, Ns now);

  /// Changes when an object was unloaded: what was learned about addresses is stale then.
  uint32_t generation() const { return generation_; }

 private:
  void read_maps();

  pid_t pid_;
  uint64_t runtime_;
  Ns next_read_ = 0;
  uint32_t generation_ = 0;
  std::map<uint64_t, const NativeModule*> by_end_;
  std::vector<std::unique_ptr<NativeModule>> modules_;
  std::unordered_map<std::string, std::unique_ptr<ObjectFile>> objects_;
};

}  // namespace stallscope
