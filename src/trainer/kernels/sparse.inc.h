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

// sum += value[n] * dy[n], dot[n] = dy[n] . w for kEntries at once: w and the sum are read once.
template <typename T, size_t kEntries>
void add_entries(T* sum, const T* const* dy, const T* value, const T* w, size_t count, T* dot) {
  using V = typename Vector<T>::type;
  constexpr size_t lanes = Vector<T>::kLanes;
  V dots[kEntries] = {};
  size_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    const V weight = *reinterpret_cast<const V*>(w + c);
    V total = *reinterpret_cast<const V*>(sum + c);
    for (size_t n = 0; n < kEntries; ++n) {
      const V error = *reinterpret_cast<const V*>(dy[n] + c);
      total += error * value[n];
      dots[n] += error * weight;
    }
    *reinterpret_cast<V*>(sum + c) = total;
  }
  for (size_t n = 0; n < kEntries; ++n) {
    dot[n] = 0;
    for (size_t lane = 0; lane < lanes; ++lane) dot[n] += dots[n][lane];
    for (size_t i = c; i < count; ++i) {
      sum[i] += value[n] * dy[n][i];
      dot[n] += dy[n][i] * w[i];
    }
  }
}

template <typename T>
void sparse_feature_backward(const SparseFeature<T>& f) {
  constexpr size_t kBlock = 1024;  // stays in the L1 cache until all entries are added
  constexpr size_t kTogether = 4;
  T sum[kBlock];
  for (size_t first = 0; first < f.width; first += kBlock) {
    const size_t count = f.width - first < kBlock ? f.width - first : kBlock;
    const T* const w = f.w + first;
    T* const dw = f.dw + first;
    auto errors_of = [&](size_t i) {
      return f.errors + static_cast<size_t>(f.row[f.entry[i]]) * f.width + first;
    };
    if (f.next_w != nullptr) fetch_ahead(f.next_w + first, count * sizeof(T));
    for (size_t c = 0; c < count; ++c) sum[c] = f.add ? dw[c] : T(0);
    if (f.pull != 0)
      for (size_t c = 0; c < count; ++c) sum[c] += f.pull * w[c];
    for (size_t i = 0; i < f.entries; i += kTogether) {
      const size_t here = f.entries - i < kTogether ? f.entries - i : kTogether;
      const T* dy[kTogether];
      T value[kTogether], dot[kTogether];
      for (size_t n = 0; n < here; ++n) {
        dy[n] = errors_of(i + n);
        value[n] = f.value[f.entry[i + n]];
      }
      for (size_t n = i + here; n < i + here + kTogether && n < f.entries + f.next_entries; ++n)
        fetch_ahead(errors_of(n), count * sizeof(T));
      switch (here) {
        case 1:
          add_entries<T, 1>(sum, dy, value, w, count, dot);
          break;
        case 2:
          add_entries<T, 2>(sum, dy, value, w, count, dot);
          break;
        case 3:
          add_entries<T, 3>(sum, dy, value, w, count, dot);
          break;
        default:
          add_entries<T, kTogether>(sum, dy, value, w, count, dot);
      }
      for (size_t n = 0; n < here; ++n) f.value_gradient[f.entry[i + n]] += dot[n];
    }
    if (f.past_caches) {
      write_past_caches(dw, sum, count);
    } else {
      for (size_t c = 0; c < count; ++c) dw[c] = sum[c];
    }
  }
}
