// Another process's memory, read without stopping it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace stallscope {

/// Reads by process_vm_readv. The target changes under us, so that whatever is
/// read must be checked before it is followed; a bad address is a failed read.
class RemoteMemory {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}

  /// All of `bytes` or nothing.
  bool read(uint64_t address, void* into, size_t bytes) const;

  /// Several places by one call, which costs hardly more than one place: all of them or nothing.
  struct Piece {
    uint64_t address;
    void* into;
    size_t bytes;
  };
  static constexpr size_t kMostPieces = 8;
  bool read(std::span<const Piece> pieces) const;

  template <typename T>
  std::optional<T> get(uint64_t address) const {
    T value;
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  std::optional<uint64_t> pointer(uint64_t address) const { return get<uint64_t>(address); }

  /// Up to `limit` bytes of a NUL-terminated text; empty when it cannot be read.
  std::string c_string(uint64_t address, size_t limit = 64) const;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace stallscope
