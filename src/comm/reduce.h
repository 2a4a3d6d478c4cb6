// Element-wise reduction of raw buffers.
#pragma once

#include <algorithm>
#include <cstddef>

#include "comm/types.h"

namespace stallscope::comm {

/// Calls f(T{}) with the element type.
template <typename F>
void with_type(DataType type, F&& f) {
  switch (type) {
    case DataType::f32:
      return f(float{});
    case DataType::f64:
      return f(double{});
    case DataType::i32:
      return f(int32_t{});
    case DataType::i64:
      return f(int64_t{});
    case DataType::u8:
      return f(uint8_t{});
  }
}

/// out[i] = a[i] op b[i]; `out` may be `a` or `b`.
inline void reduce_into(void* out, const void* a, const void* b, size_t count, DataType type,
                        ReduceOp op) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    auto* o = static_cast<T*>(out);
    const auto* x = static_cast<const T*>(a);
    const auto* y = static_cast<const T*>(b);
    if (op == ReduceOp::sum) {
      for (size_t i = 0; i < count; ++i) o[i] = static_cast<T>(x[i] + y[i]);
    } else {
      for (size_t i = 0; i < count; ++i) o[i] = std::max(x[i], y[i]);
    }
  });
}

}  // namespace stallscope::comm
