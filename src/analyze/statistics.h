// Order statistics of step times.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace stallscope {

/// Middle value; the mean of the two middle ones for an even count. 0 for none.
double median_of(std::vector<double> values);

/// Median absolute deviation from the median. 0 for none.
double median_deviation(const std::vector<double>& values);

struct MedianInterval {
  Ns median = 0, low = 0, high = 0;
};

/// The median and its 95 % percentile-bootstrap interval (1,000 resamples, fixed seed, so that
/// equal input gives equal output).
MedianInterval bootstrap_median(const std::vector<Ns>& values);

/// The place of the value that is the median (of an even count, the lower of the middle two; of
/// equal ones, the first). `lengths` must not be empty.
size_t median_step(const std::vector<Ns>& lengths);

/// How many of the first values are warm-up: the change-point that splits the series best into two
/// levels, if the first level is clearly higher (by over 5 % and three deviations of the rest) and
/// at most half of the series long. 0 = none.
size_t warm_up_length(const std::vector<Ns>& values);

}  // namespace stallscope
