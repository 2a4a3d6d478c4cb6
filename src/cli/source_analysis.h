// Static analysis as `lint`, `run` and `report` use it: rules in, facts out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rule/rule.h"
#include "source/index.h"
#include "source/project.h"

namespace stallscope {

struct SourceAnalysisOptions {
  std::vector<std::string> exclude;
  bool cache = true;
  uint64_t max_file_bytes = 4u << 20;
  std::string stdin_path;  ///< take this file's content from `stdin_bytes`
  std::string stdin_bytes;
};

struct SourceAnalysis {
  Project project;
  SourceIndex index;
  std::vector<SourceFact> facts;  ///< of the chosen files only
};

/// The source conditions of `rules`, ready to match.
Result<RuleSet> compile_source_rules(std::span<const Rule> rules);

/// How to index, with the entry points of frameworks; no cache.
Result<IndexOptions> index_options();

/// Analyses the project that `paths` belong to.
Result<SourceAnalysis> analyze_source(const std::vector<std::string>& paths,
                                      std::span<const Rule> rules,
                                      const SourceAnalysisOptions& options);

}  // namespace stallscope
