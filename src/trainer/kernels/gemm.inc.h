// Matrix product by register tiles over packed panels of B.

// A tile is kTileRows x kTileVectors vectors of the widest registers: as many sums as hide the
// latency of a multiply-add, with registers left for a row of B and an element of A.
template <typename T>
struct Vector {
  typedef T type
      __attribute__((vector_size(STALLSCOPE_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
  static constexpr size_t kLanes = STALLSCOPE_VECTOR_BYTES / sizeof(T);
};
inline constexpr size_t kTileRows = STALLSCOPE_VECTOR_BYTES == 64 ? 4 : 6;
inline constexpr size_t kTileVectors = STALLSCOPE_VECTOR_BYTES == 64 ? 4 : 2;
template <typename T>
constexpr size_t kTileWidth = kTileVectors * Vector<T>::kLanes;
// Depth of a packed panel: a panel of B stays in the L1 or L2 cache.
inline constexpr size_t kDepth = 256;

// out[r][lane] (+)= sum over p of a[r * a_row + p * a_step] * panel[p][lane].
template <typename T, size_t kRows, bool kAdd>
void tile_rows(const T* a, size_t a_row, size_t a_step, const T* panel, size_t depth, T* out,
               size_t out_stride) {
  using V = typename Vector<T>::type;
  constexpr size_t lanes = Vector<T>::kLanes;
  V sum[kRows][kTileVectors] = {};
  if constexpr (kAdd) {
    for (size_t r = 0; r < kRows; ++r)
      for (size_t v = 0; v < kTileVectors; ++v)
        sum[r][v] = *reinterpret_cast<const V*>(out + r * out_stride + v * lanes);
  }
  for (size_t p = 0; p < depth; ++p, panel += kTileWidth<T>, a += a_step) {
    V b[kTileVectors];
    for (size_t v = 0; v < kTileVectors; ++v) b[v] = *reinterpret_cast<const V*>(panel + v * lanes);
    for (size_t r = 0; r < kRows; ++r) {
      const T value = a[r * a_row];
      for (size_t v = 0; v < kTileVectors; ++v) sum[r][v] += b[v] * value;
    }
  }
  for (size_t r = 0; r < kRows; ++r)
    for (size_t v = 0; v < kTileVectors; ++v)
      *reinterpret_cast<V*>(out + r * out_stride + v * lanes) = sum[r][v];
}

// The same for any number of rows.
template <typename T, bool kAdd>
void tile(const T* a, size_t a_row, size_t a_step, const T* panel, size_t depth, T* out,
          size_t out_stride, size_t rows) {
  size_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows)
    tile_rows<T, kTileRows, kAdd>(a + r * a_row, a_row, a_step, panel, depth, out + r * out_stride,
                                  out_stride);
  for (; r + 2 <= rows; r += 2)
    tile_rows<T, 2, kAdd>(a + r * a_row, a_row, a_step, panel, depth, out + r * out_stride,
                          out_stride);
  if (r < rows)
    tile_rows<T, 1, kAdd>(a + r * a_row, a_row, a_step, panel, depth, out + r * out_stride,
                          out_stride);
}

// panel[p][lane]: kDepth x width elements of op(B), zero-padded beyond n.
template <typename T>
void pack_b(T* panel, const Gemm<T>& g, size_t column, size_t depth_begin, size_t depth_end) {
  constexpr size_t width = kTileWidth<T>;
  const size_t count = g.n - column < width ? g.n - column : width;
  for (size_t p = depth_begin; p < depth_end; ++p, panel += width) {
    for (size_t c = 0; c < count; ++c)
      panel[c] = g.transpose_b ? g.b[(column + c) * g.ldb + p] : g.b[p * g.ldb + column + c];
    for (size_t c = count; c < width; ++c) panel[c] = 0;
  }
}

template <typename T>
void gemm(const Gemm<T>& g, size_t row_begin, size_t row_end) {
  constexpr size_t width = kTileWidth<T>;
  T panel[kDepth * width], sums[kTileRows * width];
  for (size_t r = row_begin; r < row_end; ++r) {
    T* out = g.c + r * g.ldc;
    for (size_t c = 0; c < g.n; ++c) {
      out[c] = g.base != nullptr ? g.base[r * g.ldc + c] : T(0);
      if (g.bias != nullptr) out[c] += g.bias[c];
    }
  }
  const size_t a_row = g.transpose_a ? 1 : g.lda, a_step = g.transpose_a ? g.lda : 1;
  for (size_t p = 0; p < g.k; p += kDepth) {
    const size_t depth = g.k - p < kDepth ? g.k - p : kDepth;
    for (size_t column = 0; column < g.n; column += width) {
      pack_b(panel, g, column, p, p + depth);
      const size_t columns = g.n - column < width ? g.n - column : width;
      for (size_t r = row_begin; r < row_end; r += kTileRows) {
        const size_t count = row_end - r < kTileRows ? row_end - r : kTileRows;
        tile<T, false>(g.a + r * a_row + p * a_step, a_row, a_step, panel, depth, sums, width,
                       count);
        for (size_t i = 0; i < count; ++i) {
          T* out = g.c + (r + i) * g.ldc + column;
          for (size_t c = 0; c < columns; ++c) out[c] += sums[i * width + c];
        }
      }
    }
  }
}
