// Findings of the sample reports: priced, unpriced, static, advice, and one
// whose every text tries to break out of the format it is written to.
#pragma once

#include "rule/finding.h"

namespace stallscope::sample {

Finding item_in_step();
std::vector<Finding> findings();
std::vector<RuleMeta> rules();

}  // namespace stallscope::sample
