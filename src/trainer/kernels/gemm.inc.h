// Matrix product by register tiles over packed panels of B.

// A tile is kTileRows x kTileVectors vectors of the widest registers.
template <typename T>
struct Vector {
  typedef T type
      __attribute__((vector_size(STALLSCOPE_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
  static constexpr size_t kLanes = STALLSCOPE_VECTOR_BYTES / sizeof(T);
};
inline constexpr size_t kTileRows = 6;
inline constexpr size_t kTileVectors = 2;
// Depth of a packed panel: kTileVectors vectors x kDepth of B stay in the L1 cache.
inline constexpr size_t kDepth = 256;

// panel[p][lane]: kDepth x width elements of op(B), zero-padded beyond n.
template <typename T>
void pack_b(T* panel, const Gemm<T>& g, size_t column, size_t depth_begin, size_t depth_end) {
  constexpr size_t width = kTileVectors * Vector<T>::kLanes;
  const size_t count = g.n - column < width ? g.n - column : width;
  for (size_t p = depth_begin; p < depth_end; ++p, panel += width) {
    for (size_t c = 0; c < count; ++c)
      panel[c] = g.transpose_b ? g.b[(column + c) * g.ldb + p] : g.b[p * g.ldb + column + c];
    for (size_t c = count; c < width; ++c) panel[c] = 0;
  }
}

template <typename T, size_t kRows>
void gemm_tile(const T* a, const T* panel, size_t depth, T* out, size_t out_stride) {
  using V = typename Vector<T>::type;
  constexpr size_t width = kTileVectors * Vector<T>::kLanes;
  V sum[kRows][kTileVectors] = {};
  for (size_t p = 0; p < depth; ++p) {
    const V b0 = *reinterpret_cast<const V*>(panel + p * width);
    const V b1 = *reinterpret_cast<const V*>(panel + p * width + Vector<T>::kLanes);
    for (size_t r = 0; r < kRows; ++r) {
      const T value = a[p * kTileRows + r];
      sum[r][0] += b0 * value;
      sum[r][1] += b1 * value;
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    *reinterpret_cast<V*>(out + r * out_stride) = sum[r][0];
    *reinterpret_cast<V*>(out + r * out_stride + Vector<T>::kLanes) = sum[r][1];
  }
}

template <typename T>
void gemm(const Gemm<T>& g, size_t row_begin, size_t row_end) {
  constexpr size_t width = kTileVectors * Vector<T>::kLanes;
  T panel[kDepth * width], rows[kDepth * kTileRows], tile[kTileRows * width];
  for (size_t r = row_begin; r < row_end; ++r) {
    for (size_t c = 0; c < g.n; ++c)
      g.c[r * g.ldc + c] = g.base != nullptr ? g.base[r * g.ldc + c] : T(0);
  }
  for (size_t p = 0; p < g.k; p += kDepth) {
    const size_t depth = g.k - p < kDepth ? g.k - p : kDepth;
    for (size_t column = 0; column < g.n; column += width) {
      pack_b(panel, g, column, p, p + depth);
      const size_t columns = g.n - column < width ? g.n - column : width;
      for (size_t r = row_begin; r < row_end; r += kTileRows) {
        const size_t count = row_end - r < kTileRows ? row_end - r : kTileRows;
        for (size_t q = 0; q < depth; ++q) {
          for (size_t i = 0; i < kTileRows; ++i) {
            rows[q * kTileRows + i] = i >= count      ? T(0)
                                      : g.transpose_a ? g.a[(p + q) * g.lda + r + i]
                                                      : g.a[(r + i) * g.lda + p + q];
          }
        }
        gemm_tile<T, kTileRows>(rows, panel, depth, tile, width);
        for (size_t i = 0; i < count; ++i) {
          T* out = g.c + (r + i) * g.ldc + column;
          for (size_t c = 0; c < columns; ++c) out[c] += tile[i * width + c];
        }
      }
    }
  }
}
