#include "analyze/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace stallscope {
namespace {

// Sum of squared deviations of values[first, last) from their mean, from prefix sums.
double spread(const std::vector<double>& sum, const std::vector<double>& squares, size_t first,
              size_t last) {
  const double n = static_cast<double>(last - first);
  if (n == 0) return 0;
  const double total = sum[last] - sum[first];
  return squares[last] - squares[first] - total * total / n;
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

double median_deviation(const std::vector<double>& values) {
  const double median = median_of(values);
  std::vector<double> deviations(values);
  for (double& value : deviations) value = std::fabs(value - median);
  return median_of(std::move(deviations));
}

MedianInterval bootstrap_median(const std::vector<Ns>& values) {
  if (values.empty()) return {};
  const std::vector<double> all(values.begin(), values.end());
  const auto median = static_cast<Ns>(std::llround(median_of(all)));
  if (values.size() == 1) return {median, median, median};
  constexpr size_t kResamples = 1000;
  std::mt19937_64 random(20'260'101);  // fixed: a report of the same trace must not change
  std::vector<double> medians, sample(values.size());
  medians.reserve(kResamples);
  for (size_t i = 0; i < kResamples; ++i) {
    for (double& value : sample) value = all[random() % all.size()];
    medians.push_back(median_of(sample));
  }
  std::ranges::sort(medians);
  return {median, static_cast<Ns>(std::llround(medians[kResamples * 25 / 1000])),
          static_cast<Ns>(std::llround(medians[kResamples * 975 / 1000 - 1]))};
}

size_t median_step(const std::vector<Ns>& lengths) {
  std::vector<size_t> order(lengths.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&lengths](size_t i) { return lengths[i]; });
  // Of an even count the lower of the two middle steps: a step that exists, not a mean of two.
  const Ns middle = lengths[order[(order.size() - 1) / 2]];
  return static_cast<size_t>(std::ranges::find(lengths, middle) - lengths.begin());
}

size_t warm_up_length(const std::vector<Ns>& values) {
  if (values.size() < 4) return 0;
  std::vector<double> logs;
  for (Ns value : values) logs.push_back(std::log(static_cast<double>(std::max<Ns>(value, 1))));
  // A single slow step must not look like a level: pull in what is far from the bulk.
  const double median = median_of(logs);
  const double reach = std::max(6 * median_deviation(logs), 0.3);
  for (double& value : logs) value = std::clamp(value, median - reach, median + reach);

  std::vector<double> sum{0}, squares{0};
  for (double value : logs) {
    sum.push_back(sum.back() + value);
    squares.push_back(squares.back() + value * value);
  }
  size_t best = 0;
  double best_cost = spread(sum, squares, 0, logs.size());
  // How far steady steps lie apart cannot be told from two of them.
  constexpr size_t kFewestSteady = 3;
  for (size_t split = 1; split <= std::min(logs.size() / 2, logs.size() - kFewestSteady); ++split) {
    const double cost = spread(sum, squares, 0, split) + spread(sum, squares, split, logs.size());
    if (cost < best_cost) {
      best_cost = cost;
      best = split;
    }
  }
  if (best == 0) return 0;
  const std::vector<double> head(logs.begin(), logs.begin() + best),
      rest(logs.begin() + best, logs.end());
  const double excess = median_of(head) - median_of(rest);
  const bool clear = excess > std::log(1.05) && excess > 3 * median_deviation(rest);
  return clear ? best : 0;
}

}  // namespace stallscope
