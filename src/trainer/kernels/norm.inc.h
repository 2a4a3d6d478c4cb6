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
    const T* row = x + r * columns;
    const T* grad = dy + r * columns;
    T* out = dx + r * columns;
    T sum = 0, dot = 0;
    for (size_t c = 0; c < columns; ++c) {
      const T g = grad[c] * gain[c];
      sum += g;
      dot += g * (row[c] - mean[r]) * rstd[r];
    }
    sum /= static_cast<T>(columns);
    dot /= static_cast<T>(columns);
    for (size_t c = 0; c < columns; ++c) {
      const T hat = (row[c] - mean[r]) * rstd[r];
      const T value = (grad[c] * gain[c] - sum - hat * dot) * rstd[r];
      out[c] = base != nullptr ? base[r * columns + c] + value : value;
    }
  }
}

template <typename T>
void layer_norm_parameters(T* dgain, T* dbias, const T* dgain_base, const T* dbias_base,
                           const T* dy, const T* x, const T* mean, const T* rstd, size_t rows,
                           size_t columns, size_t begin, size_t end) {
  for (size_t c = begin; c < end; ++c) {
    dgain[c] = dgain_base != nullptr ? dgain_base[c] : T(0);
    dbias[c] = dbias_base != nullptr ? dbias_base[c] : T(0);
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = begin; c < end; ++c) {
      dgain[c] += dy[r * columns + c] * (x[r * columns + c] - mean[r]) * rstd[r];
      dbias[c] += dy[r * columns + c];
    }
  }
}
