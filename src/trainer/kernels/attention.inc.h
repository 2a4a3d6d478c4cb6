// Multi-head attention of one (sample, head) pair at a time.

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

template <typename T>
void attention_forward(T* out, T* probabilities, const T* qkv, const T* mask,
                       const AttentionShape& s, size_t begin, size_t end) {
  const size_t n = s.sequence, d = s.head_size, width = s.heads * d;
  const T scale = T(1) / std::sqrt(static_cast<T>(d));
  for (size_t pair = begin; pair < end; ++pair) {
    const HeadView<T> h = head_of(qkv, s, pair);
    T* prob = probabilities + pair * n * n;
    T* to = out + (pair / s.heads) * n * width + (pair % s.heads) * d;
    for (size_t i = 0; i < n; ++i) {
      T* row = prob + i * n;
      const size_t limit = s.causal ? i + 1 : n;
      T maximum = -std::numeric_limits<T>::infinity();
      for (size_t j = 0; j < limit; ++j) {
        T dot = 0;
        for (size_t e = 0; e < d; ++e) dot += h.q[i * h.stride + e] * h.k[j * h.stride + e];
        row[j] = dot * scale + (mask != nullptr ? mask[i * n + j] : T(0));
        maximum = row[j] > maximum ? row[j] : maximum;
      }
      T sum = 0;
      for (size_t j = 0; j < limit; ++j) {
        row[j] = exp_of(row[j] - maximum);
        sum += row[j];
      }
      for (size_t j = 0; j < limit; ++j) row[j] /= sum;
      for (size_t j = limit; j < n; ++j) row[j] = 0;
      T* o = to + i * width;
      for (size_t e = 0; e < d; ++e) o[e] = 0;
      for (size_t j = 0; j < limit; ++j)
        for (size_t e = 0; e < d; ++e) o[e] += row[j] * h.v[j * h.stride + e];
    }
  }
}

// `scratch` holds `sequence` elements per pair.
template <typename T>
void attention_backward(T* dqkv, const T* dout, const T* qkv, const T* probabilities, T* scratch,
                        const AttentionShape& s, size_t begin, size_t end) {
  const size_t n = s.sequence, d = s.head_size, width = s.heads * d;
  const T scale = T(1) / std::sqrt(static_cast<T>(d));
  for (size_t pair = begin; pair < end; ++pair) {
    const HeadView<T> h = head_of(qkv, s, pair);
    const HeadView<T> dh = head_of<T>(dqkv, s, pair);
    T *dq = const_cast<T*>(dh.q), *dk = const_cast<T*>(dh.k), *dv = const_cast<T*>(dh.v);
    const T* prob = probabilities + pair * n * n;
    const T* from = dout + (pair / s.heads) * n * width + (pair % s.heads) * d;
    T* dprob = scratch + pair * n;
    for (size_t j = 0; j < n; ++j) {
      for (size_t e = 0; e < d; ++e) {
        dq[j * h.stride + e] = 0;
        dk[j * h.stride + e] = 0;
        dv[j * h.stride + e] = 0;
      }
    }
    for (size_t i = 0; i < n; ++i) {
      const T* o = from + i * width;
      const T* row = prob + i * n;
      const size_t limit = s.causal ? i + 1 : n;
      T dot = 0;
      for (size_t j = 0; j < limit; ++j) {
        T value = 0;
        for (size_t e = 0; e < d; ++e) value += o[e] * h.v[j * h.stride + e];
        dprob[j] = value;
        dot += value * row[j];
      }
      for (size_t j = 0; j < limit; ++j) {
        const T dscore = row[j] * (dprob[j] - dot) * scale;
        for (size_t e = 0; e < d; ++e) {
          dv[j * h.stride + e] += row[j] * o[e];
          dq[i * h.stride + e] += dscore * h.k[j * h.stride + e];
          dk[j * h.stride + e] += dscore * h.q[i * h.stride + e];
        }
      }
    }
  }
}
