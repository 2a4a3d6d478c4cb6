// Element-wise kernels.

// The normal distribution's share below x, given exp(-x^2 / 2), which its slope needs as well: a
// polynomial in 1 / (1 + |x| / 3) times that, a fit that is off by 7e-8 at most.
inline float normal_share(float x, float exponential) {
  const float t = 1.0F / (1.0F + 0.33F * (x < 0 ? -x : x));
  float p = -0.11067746599F;
  p = p * t + 0.37929759039F;
  p = p * t - 0.09625660316F;
  p = p * t + 0.20623973165F;
  p = p * t + 0.12139676745F;
  const float tail = p * t * exponential;
  return x < 0 ? tail : 1.0F - tail;
}
inline double normal_share(double x, double) {
  return 0.5 * (1 + std::erf(x * 0.70710678118654752440));
}

// gelu(x) = x * Phi(x); the tanh form is GPT-2's.
template <typename T>
T gelu_exact(T x) {
  return x * normal_share(x, exp_of(-T(0.5) * x * x));
}
template <typename T>
T gelu_exact_slope(T x) {
  const T exponential = exp_of(-T(0.5) * x * x);
  return normal_share(x, exponential) + x * T(0.39894228040143267794) * exponential;
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
void gelu_forward(Numbers<T> to, Numbers<const T> from, size_t begin, size_t end, bool tanh_form) {
  with(to, [&](auto* __restrict y) {
    with(from, [&](const auto* __restrict x) {
      if (tanh_form) {
        for (size_t i = begin; i < end; ++i) put(y[i], gelu_tanh<T>(value_of(x[i])));
      } else {
        for (size_t i = begin; i < end; ++i) put(y[i], gelu_exact<T>(value_of(x[i])));
      }
    });
  });
}

// Block by block, each of them in floats: one loop of the arithmetic, whatever lies in bf16. dy may
// be dx.
template <typename T>
void gelu_backward(Numbers<T> to, Numbers<const T> from, Numbers<const T> at, size_t begin,
                   size_t end, bool tanh_form) {
  constexpr size_t kBlock = 512;
  T slope[kBlock], gradient[kBlock];
  for (size_t first = begin; first < end; first += kBlock) {
    const size_t count = end - first < kBlock ? end - first : kBlock;
    load_block(slope, at, first, count);
    load_block(gradient, from, first, count);
    if (tanh_form) {
      for (size_t i = 0; i < count; ++i) gradient[i] *= gelu_tanh_slope(slope[i]);
    } else {
      for (size_t i = 0; i < count; ++i) gradient[i] *= gelu_exact_slope(slope[i]);
    }
    store_block(to, first, gradient, count);
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
void column_sum(T* out, const T* base, Numbers<const T> from, size_t rows, size_t columns,
                size_t begin, size_t end) {
  for (size_t c = begin; c < end; ++c) out[c] = base != nullptr ? base[c] : T(0);
  with(from, [&](const auto* x) {
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = begin; c < end; ++c) out[c] += value_of(x[r * columns + c]);
  });
}

template <typename T>
void axpby(T* y, const T* x, T a, T b, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) y[i] = a * x[i] + (b == T(0) ? T(0) : b * y[i]);
}

template <typename T>
void adamw(T* parameter, T* m, T* v, const T* gradient, uint16_t* half,
           const typename KernelTable<T>::Adam& a, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const T g = gradient[i];
    m[i] = a.beta1 * m[i] + (T(1) - a.beta1) * g;
    v[i] = a.beta2 * v[i] + (T(1) - a.beta2) * g * g;
    parameter[i] = parameter[i] * a.kept - a.step * m[i] / (std::sqrt(v[i]) * a.root + a.epsilon);
  }
  if (half != nullptr) convert_half(half, parameter, 0, count);
}

template <typename T>
double sum_of_squares(const T* x, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

template <typename T>
T negative_part(T* x, T factor, size_t begin, size_t end) {
  T sum = 0;
  for (size_t i = begin; i < end; ++i) {
    sum += x[i] > 0 ? T(0) : -x[i];  // a NaN stays one
    x[i] = x[i] < 0 ? -factor : T(0);
  }
  return sum;
}
