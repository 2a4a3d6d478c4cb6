#include "record/overhead.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stallscope {
namespace {

/// 97.5 % quantile of Student's t for 1, 2, ... degrees of freedom (any statistics table).
double t_quantile(size_t degrees) {
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                 2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                 2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  constexpr double kNormal = 1.96;
  return degrees <= kTable.size() ? kTable[degrees - 1]
                                  : kNormal + 2.4 / static_cast<double>(degrees);
}

}  // namespace

std::optional<PairedOverhead> paired_overhead(std::span<const PairedRun> pairs) {
  if (pairs.size() < 2) return std::nullopt;
  if (std::ranges::any_of(pairs, [](const PairedRun& pair) { return pair.without <= 0; }))
    return std::nullopt;
  const auto difference = [](const PairedRun& pair) {
    return static_cast<double>(pair.with - pair.without) / static_cast<double>(pair.without);
  };
  const auto n = static_cast<double>(pairs.size());
  double sum = 0, squares = 0;
  for (const PairedRun& pair : pairs) sum += difference(pair);
  const double mean = sum / n;
  for (const PairedRun& pair : pairs) squares += std::pow(difference(pair) - mean, 2);
  const double half = t_quantile(pairs.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return PairedOverhead{.difference = mean,
                        .low = mean - half,
                        .high = mean + half,
                        .pairs = static_cast<uint32_t>(pairs.size())};
}

}  // namespace stallscope
