// What of an ELF object's file is needed to walk native stacks through it from
// outside: its unwind tables, mapped, and its identity.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace/unwind_table.h"

namespace stallscope {

class ObjectFile {
 public:
  /// Opens the file; nullptr when it is no ELF object. One without tables can be named only.
  static std::unique_ptr<ObjectFile> open(const std::string& path);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  /// Lower-case hexadecimal; empty when it has none.
  const std::string& build_id() const { return build_id_; }
  /// The address in the file (st_value's terms) of the byte at `offset`.
  uint64_t address_of_offset(uint64_t offset) const;
  /// How to step out of the frame whose instruction lies at `address` (in the file's terms); the
  /// rule's function is in the file's terms too.
  UnwindRule rule_at(uint64_t address) const;

 private:
  ObjectFile() = default;
  bool read(int fd);

  std::string build_id_;
  void* mapped_ = nullptr;  ///< the segment that holds the tables
  size_t mapped_bytes_ = 0;
  UnwindObject tables_;    ///< as mapped here
  uint64_t distance_ = 0;  ///< address here minus address in the file
  uint64_t code_offset_ = 0, code_address_ = 0;
};

}  // namespace stallscope
