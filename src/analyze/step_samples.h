// StepSamples: what the step thread's stack samples say of single steps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/places.h"
#include "analyze/rank_context.h"

namespace stallscope {

class StepSamples {
 public:
  StepSamples(const RankContext& context, SiteTable& sites);

  /// What the used step `used` did longer than the mean step, in words: "waiting for a CPU" or
  /// "load (data.py:12)". Empty when nothing explains at least `least` nanoseconds by enough
  /// samples.
  std::string beyond_usual(uint32_t used, double least) const;

 private:
  struct Share {
    double ns = 0;
    uint64_t samples = 0;
  };
  using Shares = std::map<SiteId, Share>;  ///< 0 = without a line of the user's own

  SiteTable& sites_;
  std::vector<Shares> lines_;     ///< by used step
  std::vector<Share> no_cpu_;     ///< by used step: ready to run, and not running
  std::map<SiteId, double> sum_;  ///< over all used steps
  double no_cpu_sum_ = 0;
};

}  // namespace stallscope
