// Baselines: findings that are known and accepted, by fingerprint and file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "rule/finding.h"

namespace stallscope {

/// How often each finding is accepted.
class Baseline {
 public:
  struct Entry {
    std::string rule;
    unsigned count = 0;
  };
  /// Whether findings that a file had may be in another one now.
  using MayHaveMoved = std::function<bool(const std::string& file)>;

  void add(const std::string& fingerprint, const std::string& file, const Entry& entry);
  void add(const Finding& finding);

  /// Whether the finding is accepted where it is; uses up one of those accepted.
  bool take(const Finding& finding);
  /// The same for what is accepted in another file and `moved` from there. Findings that are where
  /// they were come first: equal code in two files has one fingerprint.
  bool take_moved(const Finding& finding, const MayHaveMoved& moved);

  /// By fingerprint, then by file; "" = in no file, or none was stated.
  const std::map<std::string, std::map<std::string, Entry>>& accepted() const { return accepted_; }

 private:
  std::map<std::string, std::map<std::string, Entry>> accepted_;
};

/// Reads a baseline file. The error says what is wrong with it.
Result<Baseline> load_baseline(const std::string& path);

/// The baseline as the file's text, in a fixed order.
std::string baseline_text(const Baseline& baseline);

/// Takes accepted findings out of `findings` and returns them. `gone` receives
/// the fingerprints that the baseline accepts and that are no longer found.
std::vector<Finding> apply_baseline(
    Baseline baseline, std::vector<Finding>& findings, std::vector<std::string>* gone = nullptr,
    const Baseline::MayHaveMoved& moved = [](const std::string&) { return true; });

}  // namespace stallscope
