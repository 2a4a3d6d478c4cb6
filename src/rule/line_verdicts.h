// What line evidence says of a source match: whether its lines ran, or why that
// is not known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rule/evaluate.h"
#include "rule/file_join.h"

namespace stallscope {

enum class LineVerdict : uint8_t {
  ran,
  not_run,     ///< every process of the run watched for it
  compiled,    ///< it may have run as code that a compiler made of it
  silent,      ///< it was watched, but some processes left no word
  changed,     ///< the run had another text of the file
  not_loaded,  ///< the run told which files it loaded, and this is not one
  unknown,
};

class LineVerdicts {
 public:
  /// Both are used until the object is gone.
  LineVerdicts(const EvaluateOptions& options, const FileJoin& files);

  LineVerdict of(const SourceFact& fact) const;
  /// True when the run told that it loaded this file.
  bool was_loaded(const std::string& file) const { return evidence_.contains(file); }
  /// True when the run told of any file known here.
  bool told_any() const { return !evidence_.empty(); }

 private:
  const EvaluateOptions& options_;
  std::map<std::string, std::vector<const LineEvidence*>> evidence_;  // by the source's path
  std::set<std::string> changed_;
};

}  // namespace stallscope
