// Element-wise kernels.

// gelu(x) = x * Phi(x); the tanh form is GPT-2's.
template <typename T>
T gelu_exact(T x) {
  return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
}
template <typename T>
T gelu_exact_slope(T x) {
  const T cdf = T(0.5) * (T(1) + std::erf(x * T(0.70710678118654752440)));
  const T pdf = T(0.39894228040143267794) * exp_of(-T(0.5) * x * x);
  return cdf + x * pdf;
}
template <typename T>
T tanh_of(T x) {
  // 1 - 2 / (exp(2x) + 1): exact at both ends, no overflow.
  return T(1) - T(2) / (exp_of(T(2) * x) + T(1));
}
template <typename T>
T gelu_tanh(T x) {
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (T(1) + tanh_of(inner));
}
template <typename T>
T gelu_tanh_slope(T x) {
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  const T t = tanh_of(inner);
  const T dinner = T(0.79788456080286535588) * (T(1) + T(3 * 0.044715) * x * x);
  return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * dinner;
}

template <typename T>
void gelu_forward(T* y, const T* x, size_t begin, size_t end, bool tanh_form) {
  if (tanh_form) {
    for (size_t i = begin; i < end; ++i) y[i] = gelu_tanh(x[i]);
  } else {
    for (size_t i = begin; i < end; ++i) y[i] = gelu_exact(x[i]);
  }
}

template <typename T>
void gelu_backward(T* dx, const T* dy, const T* x, size_t begin, size_t end, bool tanh_form) {
  if (tanh_form) {
    for (size_t i = begin; i < end; ++i) dx[i] = dy[i] * gelu_tanh_slope(x[i]);
  } else {
    for (size_t i = begin; i < end; ++i) dx[i] = dy[i] * gelu_exact_slope(x[i]);
  }
}

template <typename T>
void bias_add(T* y, const T* x, const T* bias, const T* residual, size_t columns, size_t begin,
              size_t end) {
  for (size_t r = begin; r < end; ++r) {
    const size_t row = r * columns;
    for (size_t c = 0; c < columns; ++c) {
      T value = x[row + c];
      if (bias != nullptr) value += bias[c];
      if (residual != nullptr) value += residual[row + c];
      y[row + c] = value;
    }
  }
}

template <typename T>
void column_sum(T* out, const T* base, const T* x, size_t rows, size_t columns, size_t begin,
                size_t end) {
  for (size_t c = begin; c < end; ++c) out[c] = base != nullptr ? base[c] : T(0);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = begin; c < end; ++c) out[c] += x[r * columns + c];
}

template <typename T>
void axpby(T* y, const T* x, T a, T b, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) y[i] = a * x[i] + (b == T(0) ? T(0) : b * y[i]);
}

template <typename T>
void adamw(T* parameter, T* m, T* v, const T* gradient, const typename KernelTable<T>::Adam& a,
           size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const T g = gradient[i];
    m[i] = a.beta1 * m[i] + (T(1) - a.beta1) * g;
    v[i] = a.beta2 * v[i] + (T(1) - a.beta2) * g * g;
    const T update = (m[i] / a.correction1) / (std::sqrt(v[i] / a.correction2) + a.epsilon);
    parameter[i] -= a.rate * (update + a.decay * parameter[i]);
  }
}

template <typename T>
double sum_of_squares(const T* x, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}
