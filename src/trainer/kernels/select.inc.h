// One pass over all elements: statistics of features, and what lies above a threshold.

// Rows and columns of a block that stays in the cache while it is read twice.
inline constexpr size_t kStatisticsRows = 32;
inline constexpr size_t kStatisticsColumns = 256;

// Blocks of rows have a mean and a sum of squares each, merged in order (Chan et al.): as exact as
// two passes over the data, with one.
template <typename T>
void feature_statistics(T* mean, T* squares, const T* pre, size_t batch, size_t features,
                        size_t begin, size_t end) {
  T block_mean[kStatisticsColumns], block_squares[kStatisticsColumns];
  for (size_t f = begin; f < end; ++f) mean[f] = squares[f] = 0;
  for (size_t row = 0; row < batch; row += kStatisticsRows) {
    const size_t rows = batch - row < kStatisticsRows ? batch - row : kStatisticsRows;
    const T before = static_cast<T>(row), here = static_cast<T>(rows), both = before + here;
    for (size_t first = begin; first < end; first += kStatisticsColumns) {
      const size_t columns = end - first < kStatisticsColumns ? end - first : kStatisticsColumns;
      const T* const block = pre + row * features + first;
      for (size_t c = 0; c < columns; ++c) block_mean[c] = block_squares[c] = 0;
      for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c) block_mean[c] += block[r * features + c];
      for (size_t c = 0; c < columns; ++c) block_mean[c] /= here;
      // The next block arrives while this one is read for the second time.
      const size_t ahead = first + 2 * kStatisticsColumns <= end ? kStatisticsColumns : 0;
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < ahead; c += 64 / sizeof(T))
          __builtin_prefetch(block + r * features + ahead + c);
        for (size_t c = 0; c < columns; ++c) {
          const T centred = block[r * features + c] - block_mean[c];
          block_squares[c] += centred * centred;
        }
      }
      for (size_t c = 0; c < columns; ++c) {
        const T difference = block_mean[c] - mean[first + c];
        mean[first + c] += difference * (here / both);
        squares[first + c] += block_squares[c] + difference * difference * (before * here / both);
      }
    }
  }
}

// Bit i: whether element i of a block of 64 bytes is at the threshold or above.
template <typename T>
uint32_t above_bits(const T* x, const T* mean, const T* scale, T threshold) {
  uint32_t bits = 0;
  for (size_t i = 0; i < 64 / sizeof(T); ++i)
    bits |= static_cast<uint32_t>((x[i] - mean[i]) * scale[i] >= threshold) << i;
  return bits;
}
#if defined(__AVX512F__)
template <>
inline uint32_t above_bits<float>(const float* x, const float* mean, const float* scale,
                                  float threshold) {
  const __m512 centred = _mm512_sub_ps(_mm512_loadu_ps(x), _mm512_loadu_ps(mean));
  return _mm512_cmp_ps_mask(_mm512_mul_ps(centred, _mm512_loadu_ps(scale)),
                            _mm512_set1_ps(threshold), _CMP_GE_OQ);
}
#elif defined(__AVX2__)
template <>
inline uint32_t above_bits<float>(const float* x, const float* mean, const float* scale,
                                  float threshold) {
  uint32_t bits = 0;
  for (int half = 0; half < 2; ++half, x += 8, mean += 8, scale += 8) {
    const __m256 centred = _mm256_sub_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(mean));
    const __m256 above = _mm256_cmp_ps(_mm256_mul_ps(centred, _mm256_loadu_ps(scale)),
                                       _mm256_set1_ps(threshold), _CMP_GE_OQ);
    bits |= static_cast<uint32_t>(_mm256_movemask_ps(above)) << (8 * half);
  }
  return bits;
}
#endif

// Fewer elements than a word has bits; out of line, since its vectorised form slows the others.
template <typename T>
__attribute__((noinline)) uint64_t last_bits(const T* x, size_t count, const T* mean,
                                             const T* scale, T threshold) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i)
    bits |= static_cast<uint64_t>((x[i] - mean[i]) * scale[i] >= threshold) << i;
  return bits;
}

template <typename T>
void find_above(uint64_t* bits, const T* x, size_t rows, size_t count, const T* mean,
                const T* scale, T threshold) {
  constexpr size_t kBlock = 64 / sizeof(T), kWord = 64;
  const size_t words = (count + kWord - 1) / kWord, whole = count / kWord;
  for (size_t word = 0; word < whole; ++word) {
    const T *const m = mean + word * kWord, *const s = scale + word * kWord;
    for (size_t r = 0; r < rows; ++r) {
      const T* const row = x + r * count + word * kWord;
      uint64_t found = 0;
      // Far ahead: several rows at once are more streams than the processor follows by itself.
      for (size_t i = 0; i < kWord; i += kBlock) __builtin_prefetch(row + i + 2048 / sizeof(T));
      for (size_t i = 0; i < kWord; i += kBlock)
        found |= static_cast<uint64_t>(above_bits(row + i, m + i, s + i, threshold)) << i;
      bits[r * words + word] = found;
    }
  }
  if (whole == words) return;
  for (size_t r = 0; r < rows; ++r)
    bits[r * words + whole] = last_bits(x + r * count + whole * kWord, count - whole * kWord,
                                        mean + whole * kWord, scale + whole * kWord, threshold);
}
