// Which sources belong to a run, and what static analysis says about them.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "rule/config.h"
#include "rule/file_join.h"
#include "rule/rule.h"
#include "source/facts/source_fact.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// --source: `auto` takes the program's own folder, the files seen in its stacks and those it
/// loaded, `off` none, anything else is a folder or file to analyse.
struct SourceChoice {
  std::string what = "auto";
  PathMap path_map;               ///< --path-map; the project file's comes behind it
  std::string libclang = "auto";  ///< types of C++: auto, off or the library's path
};

/// The longest that types of C++ may delay a report.
inline constexpr std::chrono::seconds kMostTimeForTypes{10};

/// The settings of a run: of the folder that --source names, or else of this one. Empty ones where
/// there are none.
Result<Config> config_of(const SourceChoice& choice);

/// --path-map, then the `path-map` of the settings; what stands for the run's paths is absolute.
PathMap path_map_of(const SourceChoice& choice, const Config& config);

/// What static analysis says of a run's sources.
struct SourceOfRun {
  std::vector<SourceFact> facts;
  AnalysedFiles files;  ///< all that were read
};

/// The sources of a run, or nullopt when it is off or nothing of the program's source lies on this
/// machine. A project that cannot be analysed, or not as well as it might be, is no error of the
/// run: `warnings` say why.
std::optional<SourceOfRun> source_of_run(const SourceChoice& choice, const RunSummary& run,
                                         std::span<const RunManifest> manifests,
                                         const PathMap& path_map, std::span<const Rule> rules,
                                         std::vector<std::string>& warnings);

}  // namespace stallscope
