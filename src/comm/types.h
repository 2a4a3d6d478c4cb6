// What collectives move and how they reduce it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stallscope::comm {

enum class DataType : uint8_t { f32, f64, i32, i64, u8 };
enum class ReduceOp : uint8_t { sum, max };
enum class Collective : uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, barrier };

constexpr size_t size_of(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::i32:
      return 4;
    case DataType::f64:
    case DataType::i64:
      return 8;
    case DataType::u8:
      return 1;
  }
  return 0;
}

constexpr std::string_view to_string(Collective collective) {
  constexpr std::string_view kNames[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                         "barrier"};
  return kNames[static_cast<size_t>(collective)];
}

template <typename T>
struct DataTypeOf;
template <>
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::f32;
};
template <>
struct DataTypeOf<double> {
  static constexpr DataType value = DataType::f64;
};
template <>
struct DataTypeOf<int32_t> {
  static constexpr DataType value = DataType::i32;
};
template <>
struct DataTypeOf<int64_t> {
  static constexpr DataType value = DataType::i64;
};
template <>
struct DataTypeOf<uint8_t> {
  static constexpr DataType value = DataType::u8;
};

}  // namespace stallscope::comm
