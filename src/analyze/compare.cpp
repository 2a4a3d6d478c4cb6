#include "analyze/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "analyze/statistics.h"

namespace stallscope {
namespace {

constexpr size_t kResamples = 2000;
constexpr uint64_t kSeed = 20'260'101;  // fixed: the same input gives the same verdict
constexpr double kNormal975 = 1.959964;

// Two-sided 95 % points of Student's t by degrees of freedom, 1 to 30.
constexpr std::array<double, 30> kStudent975 = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double student_975(size_t freedom) {
  if (freedom == 0) return kNormal975;
  return freedom <= kStudent975.size() ? kStudent975[freedom - 1] : kNormal975;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double squared_deviations(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

// Logarithms of the runs' median steps: ratios become differences.
std::vector<double> log_medians(std::span<const RunSteps> runs) {
  std::vector<double> logs;
  for (const RunSteps& run : runs) {
    const double median = median_of(run.steps);
    if (median > 0) logs.push_back(std::log(median));
  }
  return logs;
}

// Variance of a run's log median that its own steps show, by resampling blocks
// of steps: neighbouring steps resemble each other, so single ones would lie.
double block_variance(const RunSteps& run, std::mt19937_64& random) {
  const size_t count = run.steps.size();
  if (count < 4) return 0;
  const auto block = std::max<size_t>(1, static_cast<size_t>(std::cbrt(count)));
  constexpr size_t kBlockResamples = 200;
  std::vector<double> medians, sample;
  for (size_t i = 0; i < kBlockResamples; ++i) {
    sample.clear();
    while (sample.size() < count) {
      const size_t first = random() % (count - block + 1);
      for (size_t j = 0; j < block && sample.size() < count; ++j)
        sample.push_back(run.steps[first + j]);
    }
    medians.push_back(std::log(std::max(median_of(sample), 1.0)));
  }
  return squared_deviations(medians) / static_cast<double>(medians.size() - 1);
}

double mean_block_variance(std::span<const RunSteps> runs, std::mt19937_64& random) {
  double sum = 0;
  for (const RunSteps& run : runs) sum += block_variance(run, random);
  return sum / static_cast<double>(runs.size());
}

// Means of resampled runs around their mean.
std::vector<double> resampled_deviations(const std::vector<double>& logs, std::mt19937_64& random) {
  const double mean = mean_of(logs);
  std::vector<double> deviations(kResamples, 0);
  if (logs.size() < 2) return deviations;
  // A resample of n values is narrower than the truth by sqrt((n - 1) / n).
  const double n = static_cast<double>(logs.size());
  const double widen = std::sqrt(n / (n - 1));
  for (double& deviation : deviations) {
    double sum = 0;
    for (size_t i = 0; i < logs.size(); ++i) sum += logs[random() % logs.size()];
    deviation = (sum / n - mean) * widen;
  }
  return deviations;
}

double standard_deviation(const std::vector<double>& values) {
  return values.size() < 2
             ? 0
             : std::sqrt(squared_deviations(values) / static_cast<double>(values.size() - 1));
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::no_evidence:
      return "no-evidence";
    default:
      return "abstain";
  }
}

StepTimeChange compare_step_times(std::span<const RunSteps> before, std::span<const RunSteps> after,
                                  double known_spread) {
  StepTimeChange result;
  const std::vector<double> from = log_medians(before), to = log_medians(after);
  result.runs_before = from.size();
  result.runs_after = to.size();
  if (from.empty() || to.empty()) return result;
  const double estimate = mean_of(to) - mean_of(from);
  result.before = static_cast<Ns>(std::llround(std::exp(mean_of(from))));
  result.after = static_cast<Ns>(std::llround(std::exp(mean_of(to))));
  result.change = std::expm1(estimate);

  std::mt19937_64 random(kSeed);
  const double n = static_cast<double>(from.size()), m = static_cast<double>(to.size());
  const size_t freedom = from.size() + to.size() - 2;
  const bool measured = from.size() >= 2 && to.size() >= 2;
  double half = 0;
  if (measured && known_spread < 0) {
    // Runs are resampled on either side; Student's t makes up for how few there are.
    std::vector<double> deviations = resampled_deviations(to, random);
    const std::vector<double> other = resampled_deviations(from, random);
    for (size_t i = 0; i < kResamples; ++i) deviations[i] -= other[i];
    const double pooled =
        (squared_deviations(from) + squared_deviations(to)) / static_cast<double>(freedom);
    result.run_spread = std::sqrt(pooled);
    const double resampled = standard_deviation(deviations);
    half = student_975(freedom) * std::max(resampled, std::sqrt(pooled * (1 / n + 1 / m)));
  } else {
    const double seen = freedom > 0
                            ? std::sqrt((squared_deviations(from) + squared_deviations(to)) /
                                        static_cast<double>(freedom))
                            : 0;
    result.run_spread_assumed = known_spread < 0;
    result.run_spread = known_spread >= 0 ? known_spread : std::max(kAssumedRunSpread, seen);
    const double run_variance = result.run_spread * result.run_spread;
    const double within_before = mean_block_variance(before, random),
                 within_after = mean_block_variance(after, random);
    half = kNormal975 *
           std::sqrt((run_variance + within_before) / n + (run_variance + within_after) / m);
  }
  result.low = std::expm1(estimate - half);
  result.high = std::expm1(estimate + half);
  result.verdict = Verdict::no_evidence;
  if (std::fabs(result.change) >= kSmallestChange) {
    if (result.low > 0) result.verdict = Verdict::slower;
    if (result.high < 0) result.verdict = Verdict::faster;
  }
  return result;
}

}  // namespace stallscope
