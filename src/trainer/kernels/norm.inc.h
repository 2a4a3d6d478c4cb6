// Layer normalisation.

template <typename T>
void layer_norm_forward(Numbers<T> y, T* mean, T* rstd, const T* x, const T* gain, const T* bias,
                        size_t columns, T epsilon, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    const T* row = x + r * columns;
    T sum = 0;
    for (size_t c = 0; c < columns; ++c) sum += row[c];
    const T mu = sum / static_cast<T>(columns);
    T squares = 0;
    for (size_t c = 0; c < columns; ++c) squares += (row[c] - mu) * (row[c] - mu);
    const T scale = T(1) / std::sqrt(squares / static_cast<T>(columns) + epsilon);
    mean[r] = mu;
    rstd[r] = scale;
    with(y, [&](auto* whole) {
      auto* const out = whole + r * columns;
      for (size_t c = 0; c < columns; ++c)
        put(out[c], (row[c] - mu) * scale * gain[c] + bias[c]);
    });
  }
}

template <typename T>
void layer_norm_backward(T* dx, const T* base, const T* dy, const T* x, const T* gain,
                         const T* mean, const T* rstd, size_t columns, size_t begin, size_t end) {
  for (size_t r = begin; r < end; ++r) {
    const T* const row = x + r * columns;
    const T* const grad = dy + r * columns;
    T* const out = dx + r * columns;  // may be base or dy
    const T mu = mean[r], scale = rstd[r];
    T sum = 0, dot = 0;
    for (size_t c = 0; c < columns; ++c) {
      const T g = grad[c] * gain[c];
      sum += g;
      dot += g * (row[c] - mu);
    }
    sum /= static_cast<T>(columns);
    dot *= scale / static_cast<T>(columns);
    auto value = [&](size_t c) {
      return (grad[c] * gain[c] - sum - (row[c] - mu) * scale * dot) * scale;
    };
    if (base != nullptr) {
      for (size_t c = 0; c < columns; ++c) out[c] = base[r * columns + c] + value(c);
    } else {
      for (size_t c = 0; c < columns; ++c) out[c] = value(c);
    }
  }
}

// Some columns at a time: their sums over the rows stay in registers.
template <typename T>
void layer_norm_parameters(T* dgain, T* dbias, const T* dgain_base, const T* dbias_base,
                           const T* dy, const T* x, const T* mean, const T* rstd, size_t rows,
                           size_t columns, size_t begin, size_t end) {
  constexpr size_t kBlock = 64;
  for (size_t first = begin; first < end; first += kBlock) {
    const size_t count = end - first < kBlock ? end - first : kBlock;
    T gains[kBlock] = {}, biases[kBlock] = {};
    auto add_row = [&](size_t r, size_t here) {
      const T* const grad = dy + r * columns + first;
      const T* const row = x + r * columns + first;
      const T mu = mean[r], scale = rstd[r];
      for (size_t c = 0; c < here; ++c) {
        gains[c] += grad[c] * ((row[c] - mu) * scale);
        biases[c] += grad[c];
      }
    };
    if (count == kBlock) {
      for (size_t r = 0; r < rows; ++r) add_row(r, kBlock);
    } else {
      for (size_t r = 0; r < rows; ++r) add_row(r, count);
    }
    for (size_t c = 0; c < count; ++c) {
      dgain[first + c] = gains[c] + (dgain_base != nullptr ? dgain_base[first + c] : T(0));
      dbias[first + c] = biases[c] + (dbias_base != nullptr ? dbias_base[first + c] : T(0));
    }
  }
}
