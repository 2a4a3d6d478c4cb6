#include "rule/line_verdicts.h"

#include <algorithm>

namespace stallscope {

LineVerdicts::LineVerdicts(const EvaluateOptions& options, const FileJoin& files)
    : options_(options) {
  for (const auto& [path, evidence] : options.line_evidence)
    if (const auto file = files.source_file(path)) evidence_[*file].push_back(&evidence);
  for (const auto& [path, hash] : options.run_file_hashes)
    if (const auto file = files.changed_file(path)) changed_.insert(*file);
}

LineVerdict LineVerdicts::of(const SourceFact& fact) const {
  const auto of_file = evidence_.find(fact.file);
  if (of_file == evidence_.end()) {
    // Not before: another file of the run may have but the name of this one.
    if (changed_.contains(fact.file)) return LineVerdict::changed;
    // Where none of what it loaded is known here, the paths cannot be compared.
    const bool told = fact.language == "python" && !evidence_.empty();
    return told ? LineVerdict::not_loaded : LineVerdict::unknown;
  }
  // Ranks may know one file by several paths: what ran on any of them ran.
  const auto any = [&](std::set<uint32_t> LineEvidence::* lines) {
    return std::ranges::any_of(of_file->second, [&](const LineEvidence* evidence) {
      const auto it = (evidence->*lines).lower_bound(fact.first_line);
      return it != (evidence->*lines).end() && *it <= std::max(fact.first_line, fact.last_line);
    });
  };
  if (any(&LineEvidence::hit)) return LineVerdict::ran;
  if (any(&LineEvidence::compiled)) return LineVerdict::compiled;
  if (!any(&LineEvidence::watched)) return LineVerdict::unknown;
  return options_.silent_processes > 0 ? LineVerdict::silent : LineVerdict::not_run;
}

}  // namespace stallscope
