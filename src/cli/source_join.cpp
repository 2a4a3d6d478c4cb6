#include "cli/source_join.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "cli/program_files.h"
#include "cli/source_analysis.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// More than any training program has; to read them takes seconds.
constexpr size_t kMostFilesByDefault = 10'000;

/// The functions of a file by their lines, as traces name them.
AnalysedFile analysed(const FileFacts& file) {
  AnalysedFile out{.content_hash = file.content_hash, .functions = {}};
  for (const FunctionFacts& function : file.functions)
    out.functions.push_back({.name = function.qualified,
                             .first_line = function.first_line,
                             .last_line = function.last_line});
  return out;
}

}  // namespace

Result<Config> config_of(const SourceChoice& choice) {
  std::error_code error;
  const std::string folder = fs::is_directory(choice.what, error) ? choice.what : ".";
  const std::string file = find_config(folder);
  return file.empty() ? Config{} : load_config(file);
}

PathMap path_map_of(const SourceChoice& choice, const Config& config) {
  PathMap map;
  for (const auto& [from, to] : choice.path_map)
    map.emplace_back(from, fs::absolute(to).lexically_normal().string());
  if (config.file.empty()) return map;
  const fs::path base = fs::absolute(config.file).parent_path();
  for (const auto& [from, to] : config.path_map)
    map.emplace_back(from, (base / to).lexically_normal().string());
  return map;
}

std::optional<SourceOfRun> source_of_run(const SourceChoice& choice, const RunSummary& run,
                                         std::span<const RunManifest> manifests,
                                         const PathMap& path_map, std::span<const Rule> rules,
                                         std::vector<std::string>& warnings) {
  if (choice.what == "off") return std::nullopt;
  const ProgramFiles program = program_files(run, manifests, path_map);
  const std::set<std::string>& observed = program.observed;
  std::set<std::string> paths;
  if (choice.what == "auto") {
    paths = observed;
    paths.insert(program.loaded.begin(), program.loaded.end());
    paths.insert(program.own.begin(), program.own.end());
  } else {
    paths.insert(choice.what);
  }
  // One analysis per project: names are resolved within one root.
  std::map<std::string, std::vector<std::string>> projects;
  for (const std::string& path : paths) projects[project_root(path)].push_back(path);
  std::optional<SourceOfRun> source;
  SourceAnalysisOptions options;
  // A recording leaves nothing in the user's folders but its report.
  options.cache = SourceCache::existing;
  options.libclang = choice.libclang;
  options.types_of_chosen = true;
  options.when_late = "in the time that a report leaves for them: `stallscope lint` takes its own";
  options.observed.assign(observed.begin(), observed.end());
  const auto end = std::chrono::steady_clock::now() + kMostTimeForTypes;
  std::set<std::string> done;  // files whose facts are there: projects may lie in one another
  for (const auto& [root, members] : projects) {
    if (std::ranges::all_of(members, [&](const std::string& path) { return done.contains(path); }))
      continue;
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
    if (!source) source.emplace();
    for (const std::unique_ptr<FileFacts>& file : analysis->index.files())
      source->files.emplace((fs::path(root) / file->path).string(), analysed(*file));
    for (SourceFact& fact : analysis->facts) {
      fact.file = (fs::path(root) / fact.file).string();
      if (!done.contains(fact.file)) source->facts.push_back(std::move(fact));
    }
    for (const std::string& path : analysis->project.chosen)
      done.insert((fs::path(root) / path).string());
  }
  return source;
}

}  // namespace stallscope
