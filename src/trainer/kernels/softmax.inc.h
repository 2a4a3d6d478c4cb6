// Parts of a softmax: the largest of a row and its exponentials.

// NaN aside: it shows in the sum that follows.
template <typename T>
T maximum_of(const T* x, size_t count) {
  using V = typename Vector<T>::type;
  constexpr size_t lanes = Vector<T>::kLanes;
  T best = -std::numeric_limits<T>::infinity();
  V bests = best - V{};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V here = *reinterpret_cast<const V*>(x + i);
    bests = here > bests ? here : bests;
  }
  for (size_t lane = 0; lane < lanes; ++lane) best = bests[lane] > best ? bests[lane] : best;
  for (; i < count; ++i) best = x[i] > best ? x[i] : best;
  return best;
}
// x becomes exp(x - maximum); returns the sum.
template <typename T>
T exponentials(T* x, T maximum, size_t count) {
  T sum = 0;
  for (size_t i = 0; i < count; ++i) {
    x[i] = exp_of(x[i] - maximum);
    sum += x[i];
  }
  return sum;
}
