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

inline void fetch_ahead(const void* row, size_t bytes) {
  const auto* const line = static_cast<const char*>(row);
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(line + at);
}

// Elements of a row that are in floats at once.
inline constexpr size_t kLossBlock = 1024;

template <typename T>
void row_max(T* maximum, Numbers<const T> logits, const int32_t* labels, size_t columns,
             size_t begin, size_t end) {
  T block[kLossBlock];
  for (size_t r = begin; r < end; ++r) {
    maximum[r] = labels[r] < 0 ? T(0) : -std::numeric_limits<T>::infinity();
    for (size_t first = 0; first < columns && labels[r] >= 0; first += kLossBlock) {
      const size_t count = columns - first < kLossBlock ? columns - first : kLossBlock;
      load_block(block, logits, r * columns + first, count);
      const T best = maximum_of(block, count);
      maximum[r] = best > maximum[r] ? best : maximum[r];
    }
  }
}

template <typename T>
void softmax_partial(T* sums, T* targets, Numbers<const T> logits, const T* maximum,
                     const int32_t* labels, size_t columns, int32_t first_column, size_t begin,
                     size_t end) {
  T block[kLossBlock];
  for (size_t r = begin; r < end; ++r) {
    sums[r] = targets[r] = 0;
    if (labels[r] < 0) continue;
    const int32_t local = labels[r] - first_column;
    if (local >= 0 && static_cast<size_t>(local) < columns) {
      load_block(block, logits, r * columns + static_cast<size_t>(local), 1);
      targets[r] = block[0] - maximum[r];
    }
    for (size_t first = 0; first < columns; first += kLossBlock) {
      const size_t count = columns - first < kLossBlock ? columns - first : kLossBlock;
      load_block(block, logits, r * columns + first, count);
      sums[r] += exponentials(block, maximum[r], count);
    }
  }
}

template <typename T>
void cross_entropy(Numbers<T> logits, T* losses, const T* maximum, const T* sums, const T* targets,
                   const int32_t* labels, T scale, size_t columns, int32_t first_column,
                   size_t begin, size_t end) {
  T block[kLossBlock];
  for (size_t r = begin; r < end; ++r) {
    const bool counts = labels[r] >= 0;
    losses[r] = counts ? (std::log(sums[r]) - targets[r]) * scale : T(0);
    const T factor = counts ? scale / sums[r] : T(0);
    const int32_t local = labels[r] - first_column;
    for (size_t first = 0; first < columns; first += kLossBlock) {
      const size_t count = columns - first < kLossBlock ? columns - first : kLossBlock;
      if (counts) {
        load_block(block, Numbers<const T>{logits.real, logits.half}, r * columns + first, count);
        exponentials(block, maximum[r], count);
        for (size_t c = 0; c < count; ++c) block[c] *= factor;
        const auto target = static_cast<size_t>(local);
        if (local >= 0 && target >= first && target < first + count) block[target - first] -= scale;
      } else {
        for (size_t c = 0; c < count; ++c) block[c] = 0;
      }
      store_block(logits, r * columns + first, block, count);
    }
  }
}

// Block by block, so that each is in the first cache while it is worked on: a row is read for its
// maximum, for its exponentials, and they are read once more.
template <typename T>
void softmax_cross_entropy(Numbers<T> logits, T* losses, const int32_t* labels, T scale,
                           size_t columns, T* scratch, size_t begin, size_t end) {
  const Numbers<const T> from{logits.real, logits.half};
  auto by_block = [&](const auto& body) {
    for (size_t first = 0; first < columns; first += kLossBlock)
      body(first, columns - first < kLossBlock ? columns - first : kLossBlock);
  };
  for (size_t r = begin; r < end; ++r) {
    const size_t place = r * columns;
    if (labels[r] < 0) {  // counts nothing
      losses[r] = 0;
      clear_rows(logits, place, columns, columns, 0, 1);
      continue;
    }
    T* const row = logits.half != nullptr ? scratch : logits.real + place;
    T maximum = -std::numeric_limits<T>::infinity(), sum = 0, target;
    load_block(&target, from, place + static_cast<size_t>(labels[r]), 1);
    by_block([&](size_t first, size_t count) {
      if (logits.half != nullptr) {
        fetch_ahead(logits.half + place + first + 2 * kLossBlock, kLossBlock * sizeof(uint16_t));
        load_block(row + first, from, place + first, count);
      }
      const T best = maximum_of(row + first, count);
      maximum = best > maximum ? best : maximum;
    });
    by_block([&](size_t first, size_t count) {
      sum += exponentials(row + first, maximum, count);
    });
    losses[r] = (std::log(sum) - (target - maximum)) * scale;
    const T factor = scale / sum;
    by_block([&](size_t first, size_t count) {
      for (size_t c = first; c < first + count; ++c) row[c] *= factor;
      const auto label = static_cast<size_t>(labels[r]);
      if (label >= first && label < first + count) row[label] -= scale;
      if (logits.half != nullptr) store_block(logits, place + first, row + first, count);
    });
  }
}
