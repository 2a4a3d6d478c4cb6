#include "cli/source_join.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "analyze/places.h"
#include "cli/source_analysis.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// More than any training program has; to read them takes seconds.
constexpr size_t kMostFilesByDefault = 10'000;

// The script that an interpreter was told to run: its folder is the program's own.
std::string script_of(std::span<const std::string> command) {
  const auto script = std::ranges::find_if(command, [](const std::string& word) {
    return word.ends_with(".py") && !word.starts_with('-');
  });
  std::error_code error;
  return script != command.end() && fs::is_regular_file(*script, error) ? *script : std::string();
}

// Files that stacks name and that lie here, but for those of libraries: nobody mends
// the lines of an installed package, and theirs would bury the user's own.
std::set<std::string> files_in_stacks(const RunSummary& run) {
  std::set<std::string> files;
  std::error_code error;
  const auto add = [&](const Observation& observation) {
    const std::string& file = observation.place.file;
    if (!file.empty() && !is_library_file(file) && fs::is_regular_file(file, error))
      files.insert(fs::absolute(file).string());
  };
  for (const RankSummary& rank : run.ranks) std::ranges::for_each(rank.observations, add);
  std::ranges::for_each(run.cross_rank, add);
  return files;
}

}  // namespace

std::optional<std::vector<SourceFact>> facts_of_run(const SourceChoice& choice,
                                                    const RunSummary& run,
                                                    std::span<const std::string> command,
                                                    std::span<const Rule> rules,
                                                    std::vector<std::string>& warnings) {
  if (choice.what == "off") return std::nullopt;
  const std::set<std::string> observed = files_in_stacks(run);
  std::set<std::string> paths;
  if (choice.what == "auto") {
    paths = observed;
    if (const std::string script = script_of(command); !script.empty()) {
      const fs::path own = fs::absolute(script);
      paths.insert(own.string());
      if (!is_wide_folder(own.parent_path().string())) paths.insert(own.parent_path().string());
    }
  } else {
    paths.insert(choice.what);
  }
  // One analysis per project: names are resolved within one root.
  std::map<std::string, std::vector<std::string>> projects;
  for (const std::string& path : paths) projects[project_root(path)].push_back(path);
  std::optional<std::vector<SourceFact>> facts;
  SourceAnalysisOptions options;
  // A recording leaves nothing in the user's folders but its report.
  options.cache = SourceCache::existing;
  options.libclang = choice.libclang;
  options.types_of_chosen = true;
  options.when_late = "in the time that a report leaves for them: `stallscope lint` takes its own";
  options.observed.assign(observed.begin(), observed.end());
  const auto end = std::chrono::steady_clock::now() + kMostTimeForTypes;
  for (const auto& [root, members] : projects) {
    options.project = {};
    // Nobody asked for more than the program: a folder that holds a whole disk is not read.
    if (choice.what == "auto") options.project.most_files = kMostFilesByDefault;
    options.types_within = std::max(std::chrono::milliseconds(1),
                                    std::chrono::duration_cast<std::chrono::milliseconds>(
                                        end - std::chrono::steady_clock::now()));
    Result<SourceAnalysis> analysis = analyze_source(members, rules, options);
    if (!analysis && analysis.error().code == kTooManyFiles) {
      warnings.push_back(analysis.error().to_string() +
                         " Only the files that ran were analysed; --source DIR takes a folder.");
      std::vector<std::string> files = members;
      std::error_code error;
      std::erase_if(files, [&](const std::string& path) { return fs::is_directory(path, error); });
      options.project = {.below_root = false};
      analysis = analyze_source(files, rules, options);
    }
    if (!analysis) {
      warnings.push_back("source was not analysed: " + analysis.error().to_string());
      continue;
    }
    for (const std::string& note : analysis->index.notes())
      if (std::ranges::find(warnings, note) == warnings.end()) warnings.push_back(note);
    if (!facts) facts.emplace();
    for (SourceFact& fact : analysis->facts) {
      fact.file = (fs::path(root) / fact.file).string();
      facts->push_back(std::move(fact));
    }
  }
  return facts;
}

}  // namespace stallscope
