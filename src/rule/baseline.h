// Baselines: findings that are known and accepted, by fingerprint.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "rule/finding.h"

namespace stallscope {

/// How often each fingerprint is accepted.
struct Baseline {
  std::map<std::string, unsigned> accepted;
};

/// Reads a baseline file. The error says what is wrong with it.
Result<Baseline> load_baseline(const std::string& path);

/// The baseline that accepts exactly `findings`, as the file's text: one entry
/// per fingerprint with rule and file for people to read, in a fixed order.
std::string baseline_text(const std::vector<Finding>& findings);

/// Takes accepted findings out of `findings` and returns them. `gone` receives
/// the fingerprints that the baseline accepts and that are no longer found.
std::vector<Finding> apply_baseline(const Baseline& baseline, std::vector<Finding>& findings,
                                    std::vector<std::string>* gone = nullptr);

}  // namespace stallscope
