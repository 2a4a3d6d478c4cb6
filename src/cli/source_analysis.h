// Static analysis as `lint`, `run` and `report` use it: rules in, facts out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rule/rule.h"
#include "source/index.h"
#include "source/project.h"

namespace stallscope {

/// Where facts and types are kept between two analyses.
enum class SourceCache : uint8_t {
  none,
  existing,  ///< where the project has a cache already: nothing is left in its folder
  made,
};

/// What a file holds, instead of what is on disk.
struct GivenText {
  std::string text;
  bool chosen = true;  ///< else it is only taken where the project has the file
};

struct SourceAnalysisOptions {
  ProjectOptions project;
  SourceCache cache = SourceCache::made;
  std::string cache_root;          ///< the project whose cache is used; empty = the analysed one
  AnalysisTimes* times = nullptr;  ///< see FileOptions
  uint64_t max_file_bytes = kLargestSource;
  /// Texts by path, taken instead of what is on disk. When there are any, only they are chosen.
  std::map<std::string, GivenText> given;
  std::string libclang;  ///< "auto" (or empty), "off" or a path
  /// Types in this time, of which `when_late` says what it is; see ClangOptions.
  std::optional<std::chrono::milliseconds> types_within;
  std::string when_late;
  std::function<void(size_t done, size_t all)> types_progress;
  /// For a run: types of chosen files only, and of those observed whatever they hold.
  bool types_of_chosen = false;
  std::vector<std::string> observed;  ///< absolute
};

struct SourceAnalysis {
  Project project;
  SourceIndex index;
  std::vector<SourceFact> facts;  ///< of the chosen files only
};

/// The source conditions of `rules`, ready to match.
Result<RuleSet> compile_source_rules(std::span<const Rule> rules);

/// How to index, with the entry points of frameworks; no cache, and no types of C++.
Result<IndexOptions> index_options();

/// How to find the types of C++ below `root`. `libclang`: as in SourceAnalysisOptions.
ClangOptions clang_options(const std::string& root, const std::string& libclang);

/// The nearest folder that exists above a file, which itself need not: a new file has a project.
std::string folder_above(const std::string& file);

/// Analyses the project that `paths` belong to.
Result<SourceAnalysis> analyze_source(const std::vector<std::string>& paths,
                                      std::span<const Rule> rules,
                                      const SourceAnalysisOptions& options);

}  // namespace stallscope
