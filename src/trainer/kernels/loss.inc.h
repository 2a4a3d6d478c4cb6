// Embedding lookup and the softmax cross-entropy of a vocabulary shard.

template <typename T>
void embedding_forward(T* out, const T* table, const int32_t* tokens, size_t columns, int32_t first,
                       int32_t count, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    const int32_t local = tokens[r] - first;
    const bool here = local >= 0 && local < count;
    const T* row = table + (here ? static_cast<size_t>(local) * columns : 0);
    for (size_t c = 0; c < columns; ++c) out[r * columns + c] = here ? row[c] : T(0);
  }
}

template <typename T>
void embedding_backward(T* dtable, const T* dy, const int32_t* tokens, size_t rows, size_t columns,
                        int32_t first, int32_t count, size_t begin, size_t end) {
  for (size_t r = 0; r < rows; ++r) {
    const int32_t local = tokens[r] - first;
    if (local < 0 || local >= count) continue;
    T* row = dtable + static_cast<size_t>(local) * columns;
    for (size_t c = begin; c < end; ++c) row[c] += dy[r * columns + c];
  }
}

template <typename T>
void row_max(T* maximum, const T* logits, size_t columns, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    T best = logits[r * columns];
    for (size_t c = 1; c < columns; ++c)
      best = logits[r * columns + c] > best ? logits[r * columns + c] : best;
    maximum[r] = best;
  }
}

template <typename T>
void softmax_partial(T* logits, T* sums, T* targets, const T* maximum, const int32_t* labels,
                     size_t columns, int32_t first, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    T* row = logits + r * columns;
    const int32_t local = labels[r] - first;
    const bool here = local >= 0 && static_cast<size_t>(local) < columns;
    targets[r] = here ? row[local] - maximum[r] : T(0);
    T sum = 0;
    for (size_t c = 0; c < columns; ++c) {
      row[c] = exp_of(row[c] - maximum[r]);
      sum += row[c];
    }
    sums[r] = sum;
  }
}

template <typename T>
void cross_entropy(T* logits, T* losses, const T* sums, const T* targets, const int32_t* labels,
                   T scale, size_t columns, int32_t first, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    T* row = logits + r * columns;
    const bool counts = labels[r] >= 0;
    losses[r] = counts ? (std::log(sums[r]) - targets[r]) * scale : T(0);
    const T factor = counts ? scale / sums[r] : T(0);
    for (size_t c = 0; c < columns; ++c) row[c] *= factor;
    const int32_t local = labels[r] - first;
    if (counts && local >= 0 && static_cast<size_t>(local) < columns) row[local] -= scale;
  }
}

template <typename T>
void softmax_cross_entropy(Numbers<T> logits, T* losses, const int32_t* labels, T scale,
                           size_t columns, T* scratch, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    with(logits, [&](auto* whole) {
      auto* const row = whole + r * columns;
      constexpr bool is_half = !std::is_same_v<decltype(whole), T*>;
      if (labels[r] < 0) {  // counts nothing
        losses[r] = 0;
        for (size_t c = 0; c < columns; ++c) row[c] = 0;
        return;
      }
      T maximum = 0, sum = 0, target = 0;
      T* exact = scratch;
      if constexpr (is_half) {
        for (size_t c = 0; c < columns; ++c) exact[c] = value_of(row[c]);
      } else {
        exact = row;
      }
      row_max(&maximum, exact, columns, 0, 1);
      softmax_partial(exact, &sum, &target, &maximum, labels + r, columns, 0, 0, 1);
      cross_entropy(exact, losses + r, &sum, &target, labels + r, scale, columns, 0, 0, 1);
      if constexpr (is_half) convert_half(row, exact, 0, columns);
    });
  }
}
