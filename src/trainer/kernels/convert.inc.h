// Floats to bf16, rounded to the nearest, ties to even.

inline uint16_t bf16_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  // A NaN keeps its top bits and stays one: rounding could carry it to infinity.
  const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? (bits >> 16) | 0x40U : rounded);
}
inline uint16_t bf16_of(double x) {
  return bf16_of(static_cast<float>(x));
}

// Numbers of either kind, read and written as what is computed with.
inline float value_of(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline float value_of(float x) {
  return x;
}
inline double value_of(double x) {
  return x;
}
template <typename T>
void put(T& to, T x) {
  to = x;
}
template <typename T>
void put(uint16_t& to, T x) {
  to = bf16_of(x);
}
/// Calls body(pointer) with where the numbers lie.
template <typename T, typename Body>
void with(Numbers<T> numbers, const Body& body) {
  if (numbers.half != nullptr) {
    body(numbers.half);
  } else {
    body(numbers.real);
  }
}

template <typename T>
void load_block(T* to, Numbers<const T> from, size_t first, size_t count) {
  if (from.half != nullptr) {
    for (size_t i = 0; i < count; ++i) to[i] = value_of(from.half[first + i]);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = from.real[first + i];
  }
}
template <typename T>
void store_block(Numbers<T> to, size_t first, const T* from, size_t count) {
  if (to.half != nullptr) {
    for (size_t i = 0; i < count; ++i) to.half[first + i] = bf16_of(from[i]);
  } else {
    for (size_t i = 0; i < count; ++i) to.real[first + i] = from[i];
  }
}

template <typename T>
void convert_half(uint16_t* to, const T* from, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) to[i] = bf16_of(from[i]);
}

typedef uint16_t Halves __attribute__((vector_size(32), aligned(2), may_alias));

// Rows interleaved pairwise, four times over, are columns.
inline void transpose_16(Halves (&x)[16]) {
  Halves y[16];
  for (int stage = 0; stage < 2; ++stage) {
    for (size_t i = 0; i < 8; ++i) {
      y[2 * i] = __builtin_shufflevector(x[i], x[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                         6, 22, 7, 23);
      y[2 * i + 1] = __builtin_shufflevector(x[i], x[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                             13, 29, 14, 30, 15, 31);
    }
    for (size_t i = 0; i < 8; ++i) {
      x[2 * i] = __builtin_shufflevector(y[i], y[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                         6, 22, 7, 23);
      x[2 * i + 1] = __builtin_shufflevector(y[i], y[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                             13, 29, 14, 30, 15, 31);
    }
  }
}

// to[c][r] = from[r][c] for columns [begin, end); `from` holds floats or halves already.
template <typename T>
void transpose_half(uint16_t* to, const T* from, size_t rows, size_t columns, size_t begin,
                    size_t end) {
  auto half = [](T x) {
    if constexpr (sizeof(T) == sizeof(uint16_t)) {
      return x;
    } else {
      return bf16_of(x);
    }
  };
  constexpr size_t kBlock = 16;
  for (size_t row = 0; row < rows; row += kBlock) {
    for (size_t column = begin; column < end; column += kBlock) {
      if (row + kBlock > rows || column + kBlock > end) {
        for (size_t c = column; c < end && c < column + kBlock; ++c)
          for (size_t r = row; r < rows && r < row + kBlock; ++r)
            to[c * rows + r] = half(from[r * columns + c]);
        continue;
      }
      Halves block[kBlock];
      for (size_t r = 0; r < kBlock; ++r)
        for (size_t c = 0; c < kBlock; ++c)
          block[r][c] = half(from[(row + r) * columns + column + c]);
      transpose_16(block);
      for (size_t c = 0; c < kBlock; ++c)
        *reinterpret_cast<Halves*>(to + (column + c) * rows + row) = block[c];
    }
  }
}
