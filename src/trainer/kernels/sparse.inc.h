// Rows of a decoder, added and multiplied where features are active.

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

// Whole cache lines past the caches: what is written once and read much later.
template <typename T>
void write_past_caches(T* to, const T* from, size_t count) {
  size_t i = 0;
#if defined(__AVX512F__)
  constexpr size_t kLine = 64 / sizeof(T);
  if (reinterpret_cast<uintptr_t>(to) % 64 == 0)
    for (; i + kLine <= count; i += kLine)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#elif defined(__AVX2__)
  constexpr size_t kHalfLine = 32 / sizeof(T);
  if (reinterpret_cast<uintptr_t>(to) % 64 == 0)
    for (; i + kHalfLine <= count; i += kHalfLine)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
#endif
  for (; i < count; ++i) to[i] = from[i];
}

template <typename T>
void sparse_feature_backward(const SparseFeature<T>& f) {
  constexpr size_t kBlock = 1024;  // stays in the L1 cache until all entries are added
  T sum[kBlock];
  for (size_t first = 0; first < f.width; first += kBlock) {
    const size_t count = f.width - first < kBlock ? f.width - first : kBlock;
    const T* const w = f.w + first;
    T* const dw = f.dw + first;
    if (f.next_w != nullptr) fetch_ahead(f.next_w + first, count * sizeof(T));
    for (size_t c = 0; c < count; ++c) sum[c] = f.add ? dw[c] : T(0);
    if (f.pull != 0)
      for (size_t c = 0; c < count; ++c) sum[c] += f.pull * w[c];
    for (size_t i = 0; i < f.entries; ++i) {
      const auto e = static_cast<size_t>(f.entry[i]);
      const T* const dy = f.errors + static_cast<size_t>(f.row[e]) * f.width + first;
      if (i + 1 < f.entries)
        fetch_ahead(f.errors + static_cast<size_t>(f.row[f.entry[i + 1]]) * f.width + first,
                    count * sizeof(T));
      const T value = f.value[e];
      T dot = 0;
      for (size_t c = 0; c < count; ++c) {
        sum[c] += value * dy[c];
        dot += dy[c] * w[c];
      }
      f.value_gradient[e] += dot;
    }
    if (f.past_caches) {
      write_past_caches(dw, sum, count);
    } else {
      for (size_t c = 0; c < count; ++c) dw[c] = sum[c];
    }
  }
}
