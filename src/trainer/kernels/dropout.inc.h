// Dropout by counters: whether an element is kept depends on its place in the whole tensor and the
// step alone, so that every layout drops the same and nothing needs to be remembered.

// What the elements of a row have in common (splitmix64's finaliser).
inline uint32_t row_seed(uint64_t stream, uint64_t row) {
  uint64_t x = stream + (row + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<uint32_t>(x >> 32);
}
// murmur3's finaliser, of 32 bits so that loops of it vectorise.
inline bool is_kept(uint32_t seed, uint32_t column, uint32_t threshold) {
  uint32_t x = seed + column * 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return (x ^ (x >> 16)) >= threshold;
}

template <typename T>
void dropout(T* y, const T* x, const T* base, const Dropout& drop, size_t columns, size_t begin,
             size_t end) {
  const T factor = static_cast<T>(drop.factor);
  for (size_t r = begin; r < end; ++r) {
    const uint32_t seed = row_seed(drop.stream, drop.first_row + r);
    const size_t row = r * columns;
    for (size_t c = 0; c < columns; ++c) {
      const T kept =
          is_kept(seed, static_cast<uint32_t>(c), drop.threshold) ? x[row + c] * factor : T(0);
      y[row + c] = base != nullptr ? base[row + c] + kept : kept;
    }
  }
}
