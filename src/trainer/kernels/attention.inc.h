// Multi-head attention of one (sample, head) pair at a time, tiled: scores exist for a block of
// queries only, and are computed again in the backward pass.

template <typename T>
struct HeadView {
  const T *q, *k, *v;
  size_t stride;  // elements between positions
};

template <typename T>
HeadView<T> head_of(const T* qkv, const AttentionShape& s, size_t pair) {
  const size_t sample = pair / s.heads, head = pair % s.heads;
  const size_t width = s.heads * s.head_size;
  const T* start = qkv + sample * s.sequence * 3 * width + head * s.head_size;
  return {start, start + width, start + 2 * width, 3 * width};
}

// Queries per block: their scores over a few hundred keys stay in the L1 and L2 cache.
inline constexpr size_t kQueries = 32;

// Rounded up to whole panels.
template <typename T>
constexpr size_t padded(size_t n) {
  return (n + kTileWidth<T> - 1) / kTileWidth<T> * kTileWidth<T>;
}

// Panels of columns, [panel][row][lane], of a matrix whose row r starts at x + r * stride.
template <typename T>
void pack_rows(T* to, const T* x, size_t stride, size_t rows, size_t columns) {
  constexpr size_t width = kTileWidth<T>;
  for (size_t column = 0; column < columns; column += width) {
    const size_t count = columns - column < width ? columns - column : width;
    for (size_t r = 0; r < rows; ++r, to += width) {
      for (size_t c = 0; c < count; ++c) to[c] = x[r * stride + column + c];
      for (size_t c = count; c < width; ++c) to[c] = 0;
    }
  }
}
// The same of its transpose: the panels' columns are the rows of x.
template <typename T>
void pack_columns(T* to, const T* x, size_t stride, size_t rows, size_t columns) {
  constexpr size_t width = kTileWidth<T>;
  for (size_t row = 0; row < rows; row += width, to += width * columns) {
    const size_t count = rows - row < width ? rows - row : width;
    for (size_t r = 0; r < count; ++r)
      for (size_t c = 0; c < columns; ++c) to[c * width + r] = x[(row + r) * stride + c];
    for (size_t r = count; r < width; ++r)
      for (size_t c = 0; c < columns; ++c) to[c * width + r] = 0;
  }
}

// C[rows, padded(columns)] (+)= A[rows, depth] * panels; C's rows are `stride` apart.
template <typename T, bool kAdd>
void product_of(const T* a, size_t a_row, size_t a_step, const T* panels, size_t panel_depth,
                size_t depth, T* c, size_t stride, size_t rows, size_t columns) {
  for (size_t column = 0; column < columns; column += kTileWidth<T>)
    tile<T, kAdd>(a, a_row, a_step, panels + column * panel_depth, depth, c + column, stride, rows);
}

// Where one thread keeps what it works on.
template <typename T>
struct AttentionScratch {
  size_t keys, width;  // padded sequence and head size
  T *k_columns, *v_columns, *k_rows, *v_rows, *q_block, *o_block, *scores, *dscores, *sums, *dk,
      *dv;

  AttentionScratch(const AttentionShape& s, T* memory)
      : keys(padded<T>(s.sequence)), width(padded<T>(s.head_size)) {
    T* at = memory;
    auto take = [&](size_t n) {
      T* const here = at;
      at += n;
      return here;
    };
    k_columns = take(keys * s.head_size);
    v_columns = take(keys * s.head_size);
    k_rows = take(keys * width);
    v_rows = take(keys * width);
    q_block = take(kQueries * width);
    o_block = take(kQueries * width);
    scores = take(kQueries * keys);
    dscores = take(kQueries * keys);
    sums = take(kQueries * width);
    dk = take(keys * width);
    dv = take(keys * width);
  }
};

template <typename T>
size_t attention_scratch(const AttentionShape& s) {
  const size_t keys = padded<T>(s.sequence), width = padded<T>(s.head_size);
  return 2 * keys * s.head_size + 4 * keys * width + 3 * kQueries * width + 2 * kQueries * keys;
}

// Rows of `count` elements, `stride` apart from element `place` on.
template <typename T>
void store_rows(Numbers<T> to, size_t place, size_t stride, const T* from, size_t from_stride,
                size_t rows, size_t count) {
  with(to, [&](auto* out) {
    for (size_t r = 0; r < rows; ++r)
      for (size_t e = 0; e < count; ++e)
        put(out[place + r * stride + e], from[r * from_stride + e]);
  });
}
template <typename T>
void clear_rows(Numbers<T> to, size_t place, size_t stride, size_t count, size_t begin,
                size_t end) {
  with(to, [&](auto* out) {
    for (size_t r = begin; r < end; ++r)
      for (size_t e = 0; e < count; ++e) out[place + r * stride + e] = 0;
  });
}

// Scores of query `i` become scaled and masked; returns how many keys it sees.
template <typename T>
size_t finish_scores(T* row, const T* mask, const AttentionShape& s, size_t used, size_t i,
                     T scale) {
  const size_t limit = s.causal ? i + 1 : used;
  for (size_t j = 0; j < limit; ++j) row[j] *= scale;
  if (mask != nullptr)
    for (size_t j = 0; j < limit; ++j) row[j] += mask[i * s.sequence + j];
  return limit;
}

// Multiplies what is kept by the factor; the rest becomes zero.
template <typename T>
void drop_from(T* row, const AttentionShape& s, size_t pair, size_t query, size_t limit) {
  const uint32_t seed = row_seed(s.dropout.stream, s.dropout_row(pair, query));
  const T factor = static_cast<T>(s.dropout.factor);
  for (size_t j = 0; j < limit; ++j)
    row[j] = is_kept(seed, static_cast<uint32_t>(j), s.dropout.threshold) ? row[j] * factor : T(0);
}

template <typename T>
void attention_forward(Numbers<T> out, T* log_sums, const T* qkv, const T* mask, const AttentionShape& s,
                       T* memory, size_t begin, size_t end) {
  const size_t n = s.sequence, d = s.head_size, model = s.heads * d;
  const T scale = T(1) / std::sqrt(static_cast<T>(d));
  const AttentionScratch<T> w(s, memory);
  for (size_t pair = begin; pair < end; ++pair) {
    const HeadView<T> h = head_of(qkv, s, pair);
    const size_t place = (pair / s.heads) * n * model + (pair % s.heads) * d;
    const size_t used = s.length(pair);
    for (size_t i = used; i < n; ++i) log_sums[pair * n + i] = 0;
    clear_rows(out, place, model, d, used, n);
    pack_columns(w.k_columns, h.k, h.stride, used, d);
    pack_rows(w.v_rows, h.v, h.stride, used, d);
    for (size_t first = 0; first < used; first += kQueries) {
      const size_t rows = used - first < kQueries ? used - first : kQueries;
      const size_t seen = s.causal ? first + rows : used;
      product_of<T, false>(h.q + first * h.stride, h.stride, 1, w.k_columns, d, d, w.scores, w.keys,
                           rows, seen);
      for (size_t r = 0; r < rows; ++r) {
        T* row = w.scores + r * w.keys;
        const size_t limit = finish_scores(row, mask, s, used, first + r, scale);
        const T maximum = maximum_of(row, limit);
        const T sum = exponentials(row, maximum, limit);
        const T inverse = T(1) / sum;
        for (size_t j = 0; j < limit; ++j) row[j] *= inverse;
        if (s.dropout.threshold != 0) drop_from(row, s, pair, first + r, limit);
        for (size_t j = limit; j < seen; ++j) row[j] = 0;
        log_sums[pair * n + first + r] = maximum + std::log(sum);
      }
      product_of<T, false>(w.scores, w.keys, 1, w.v_rows, used, seen, w.sums, w.width, rows, d);
      store_rows(out, place + first * model, model, w.sums, w.width, rows, d);
    }
  }
}

template <typename T>
void attention_backward(Numbers<T> dqkv, const T* dout, const T* qkv, const T* log_sums, const T* mask,
                        const AttentionShape& s, T* memory, size_t begin, size_t end) {
  const size_t n = s.sequence, d = s.head_size, model = s.heads * d;
  const T scale = T(1) / std::sqrt(static_cast<T>(d));
  const AttentionScratch<T> w(s, memory);
  for (size_t pair = begin; pair < end; ++pair) {
    const HeadView<T> h = head_of(qkv, s, pair);
    const size_t dq = static_cast<size_t>(h.q - qkv), dk = static_cast<size_t>(h.k - qkv),
                 dv = static_cast<size_t>(h.v - qkv);
    const T* from = dout + (pair / s.heads) * n * model + (pair % s.heads) * d;
    const size_t used = s.length(pair);
    pack_columns(w.k_columns, h.k, h.stride, used, d);
    pack_columns(w.v_columns, h.v, h.stride, used, d);
    pack_rows(w.k_rows, h.k, h.stride, used, d);
    for (size_t i = 0; i < n * w.width; ++i) w.dk[i] = w.dv[i] = 0;
    clear_rows(dqkv, dq, h.stride, d, used, n);
    for (size_t first = 0; first < used; first += kQueries) {
      const size_t rows = used - first < kQueries ? used - first : kQueries;
      const size_t seen = s.causal ? first + rows : used;
      const T* q = h.q + first * h.stride;
      const T* o = from + first * model;
      pack_rows(w.q_block, q, h.stride, rows, d);
      pack_rows(w.o_block, o, model, rows, d);
      product_of<T, false>(q, h.stride, 1, w.k_columns, d, d, w.scores, w.keys, rows, seen);
      product_of<T, false>(o, model, 1, w.v_columns, d, d, w.dscores, w.keys, rows, seen);
      for (size_t r = 0; r < rows; ++r) {
        T* row = w.scores + r * w.keys;
        T* drow = w.dscores + r * w.keys;
        const size_t limit = finish_scores(row, mask, s, used, first + r, scale);
        const T log_sum = log_sums[pair * n + first + r];
        T dot = 0;
        if (s.dropout.threshold != 0) drop_from(drow, s, pair, first + r, limit);
        for (size_t j = 0; j < limit; ++j) {
          row[j] = exp_of(row[j] - log_sum);
          dot += row[j] * drow[j];
        }
        for (size_t j = 0; j < limit; ++j) drow[j] = row[j] * (drow[j] - dot) * scale;
        if (s.dropout.threshold != 0) drop_from(row, s, pair, first + r, limit);
        for (size_t j = limit; j < seen; ++j) row[j] = drow[j] = 0;
      }
      product_of<T, true>(w.scores, 1, w.keys, w.o_block, rows, rows, w.dv, w.width, seen, d);
      product_of<T, true>(w.dscores, 1, w.keys, w.q_block, rows, rows, w.dk, w.width, seen, d);
      product_of<T, false>(w.dscores, w.keys, 1, w.k_rows, used, seen, w.sums, w.width, rows, d);
      store_rows(dqkv, dq + first * h.stride, h.stride, w.sums, w.width, rows, d);
    }
    store_rows(dqkv, dk, h.stride, w.dk, w.width, n, d);
    store_rows(dqkv, dv, h.stride, w.dv, w.width, n, d);
  }
}
