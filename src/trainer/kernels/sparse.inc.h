// Rows of a decoder, added and multiplied where features are active.

inline void fetch_ahead(const void* row, size_t bytes) {
  const auto* const line = static_cast<const char*>(row);
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(line + at);
}

// y += sum over entries of value[e] * w[feature[e]].
template <typename T>
void sparse_row(T* __restrict y, const T* value, const int32_t* feature, size_t entries, const T* w,
                size_t stride, size_t width) {
  for (size_t e = 0; e < entries; ++e) {
    const T* const row = w + static_cast<size_t>(feature[e]) * stride;
    if (e + 1 < entries)
      fetch_ahead(w + static_cast<size_t>(feature[e + 1]) * stride, width * sizeof(T));
    const T a = value[e];
    for (size_t c = 0; c < width; ++c) y[c] += a * row[c];
  }
}

// dw += value * dy; returns dy . w.
template <typename T>
T sparse_row_backward(T* __restrict dw, const T* __restrict dy, const T* __restrict w, T value,
                      size_t width) {
  T sum = 0;
  for (size_t c = 0; c < width; ++c) {
    dw[c] += value * dy[c];
    sum += dy[c] * w[c];
  }
  return sum;
}
