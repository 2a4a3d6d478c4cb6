// Just enough of the protocol buffer wire format to write messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace stallscope {

/// One message being written. Fields may come in any order (the format allows it).
class ProtoMessage {
 public:
  void varint(uint32_t field, uint64_t value) {
    key(field, 0);
    raw_varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    key(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void real(uint32_t field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
  void text(uint32_t field, std::string_view value) {
    key(field, 2);
    raw_varint(value.size());
    bytes_ += value;
  }
  void message(uint32_t field, const ProtoMessage& value) { text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  void key(uint32_t field, uint32_t wire_type) { raw_varint(uint64_t{field} << 3 | wire_type); }
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace stallscope
