#include "cli/pipeline.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <set>

#include "analyze/align_clocks.h"
#include "analyze/analyze.h"
#include "analyze/repeated_traces.h"
#include "analyze/starts.h"
#include "base/file.h"
#include "cli/lint_totals.h"
#include "cli/rank_inputs.h"
#include "cli/run_info.h"
#include "report/build.h"
#include "rule/config.h"
#include "rule/evaluate.h"
#include "rule/known_rules.h"
#include "rule/load.h"
#include "trace/line_ranges.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// What the inputs say in all, in their order.
struct Analyzed {
  std::vector<RankSummary> ranks;
  std::vector<std::string> warnings;  ///< each once, also those of traces without any rank
  std::map<std::string, std::string> environment;  ///< the first rank's where ranks differ
  std::vector<RunManifest> manifests;
  SourceStore sources;
};

/// Keeps the timelines of the slowest ranks, which are those that a report shows, so that a
/// thousand ranks fit in memory.
class SlowestTimelines {
 public:
  void add(RankSummary& rank) {
    kept_.emplace(std::pair(rank.step_median, -rank.rank), &rank);
    if (kept_.size() <= kKept) return;
    kept_.begin()->second->representative = {};
    kept_.erase(kept_.begin());
  }

 private:
  static constexpr size_t kKept = 64;
  std::multimap<std::pair<Ns, int32_t>, RankSummary*> kept_;
};

Result<Analyzed> analyze_inputs(const std::vector<std::string>& paths,
                                const PipelineOptions& options, Progress& progress) {
  std::vector<RankInput> inputs(paths.size());
  SlowestTimelines timelines;
  const Status status =
      for_each_rank_input(paths, options, progress, [&](size_t path, RankInput input) {
        inputs[path] = std::move(input);
        for (RankSummary& rank : inputs[path].ranks) timelines.add(rank);
        return ok_status();
      });
  if (!status) return status.error();
  Analyzed analyzed;
  for (RankInput& input : inputs) {
    for (std::string& warning : input.warnings)
      if (std::ranges::find(analyzed.warnings, warning) == analyzed.warnings.end())
        analyzed.warnings.push_back(std::move(warning));
    analyzed.environment.merge(input.environment);
    std::ranges::move(input.ranks, std::back_inserter(analyzed.ranks));
    if (input.manifest) analyzed.manifests.push_back(std::move(*input.manifest));
    analyzed.sources.take(std::move(input.sources));
  }
  return analyzed;
}

/// What the run knows of its own files: which lines ran in any of its processes, of which text.
void describe_files(const Analyzed& analyzed, EvaluateOptions& out) {
  out.run_file_hashes = analyzed.sources.hashes();
  std::map<std::string, std::string> loaded;
  for (const RunManifest& manifest : analyzed.manifests) {
    for (const auto& [file, lines] : manifest.lines) {
      LineEvidence& evidence = out.line_evidence[file];
      evidence.watched.merge(lines_of_ranges(lines.watched));
      evidence.hit.merge(lines_of_ranges(lines.hit));
      evidence.compiled.merge(lines_of_ranges(lines.compiled));
      if (lines.hash.empty()) continue;
      const auto [it, added] = loaded.emplace(file, lines.hash);
      if (!added && it->second != lines.hash) it->second = kChangedWhileRecorded;
    }
    out.silent_processes += manifest.silent_processes;
    if (const auto it = manifest.environment.find(kBoundsFact); it != manifest.environment.end())
      out.recorded_part = it->second;
  }
  // What was loaded is what ran; the lines of a report were read later.
  for (auto& [file, hash] : loaded) out.run_file_hashes[file] = std::move(hash);
}

/// Ranks that the run had and the inputs have not.
std::vector<Error> missing_ranks(const std::vector<RankSummary>& ranks) {
  std::set<int> present;
  int world = 0;
  for (const RankSummary& rank : ranks) {
    present.insert(rank.rank);
    world = std::max(world, rank.world_size);
  }
  std::string names;
  size_t missing = 0;
  constexpr size_t kNamed = 16;
  for (int rank = 0; rank < world && !present.empty() && *present.rbegin() >= 0; ++rank) {
    if (present.contains(rank)) continue;
    if (++missing <= kNamed) names += (names.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (missing == 0) return {};
  if (missing > kNamed) names += " and " + std::to_string(missing - kNamed) + " more";
  return {Error{.message = (missing == 1 ? "rank " : "ranks ") + names + " of " +
                           std::to_string(world) + (missing == 1 ? " is" : " are") +
                           " missing: waits between ranks cannot be told apart fully",
                .remedy = "record every rank, or name all of their folders",
                .code = "rank-missing"}};
}

/// The tool's rules, the settings' own and the given ones; the settings name no others.
Result<std::vector<Rule>> rules_of(const Config& config, const PipelineOptions& options) {
  std::vector<std::string> folders = options.rule_folders;
  add_rule_folders(config, folders);
  Result<std::vector<Rule>> rules = load_bundled_rules(folders);
  if (!rules) return rules;
  if (const Status known = expect_known_rules(config, *rules); !known) return known.error();
  return rules;
}

/// What lies beside the program and was left out, in one sentence.
std::string left_out_note(const std::map<std::string, size_t>& not_loaded) {
  size_t findings = 0;
  for (const auto& [file, times] : not_loaded) findings += times;
  return counted(findings, "finding") + " in " + counted(not_loaded.size(), "file") +
         " beside the program left out, because no process of the run loaded " +
         (not_loaded.size() == 1 ? "it" : "them") +
         ": `stallscope lint` has them, or --source DIR takes them in.";
}

}  // namespace

Status expect_usable(const Config& config, const PipelineOptions& options) {
  if (config.named_rules.empty() && config.rule_folders.empty() && options.rule_folders.empty())
    return ok_status();  // the tool's own rules can be read
  const Result<std::vector<Rule>> rules = rules_of(config, options);
  return rules ? ok_status() : rules.error();
}

Result<Report> make_report(std::span<const std::string> inputs, const PipelineOptions& options,
                           Progress& progress) {
  const Result<std::vector<std::string>> paths = expand_inputs(inputs);
  if (!paths) return paths.error();
  const Result<Config> config = config_of(options.source);
  if (!config) return config.error();
  // Beside the traces: reading the rules takes longer than reading a small trace.
  std::future<Result<std::vector<Rule>>> loading =
      std::async(std::launch::async, [&] { return rules_of(*config, options); });
  Result<Analyzed> analyzed = analyze_inputs(*paths, options, progress);
  const Result<std::vector<Rule>> rules = loading.get();
  if (!rules) return rules.error();
  if (!analyzed) return analyzed.error();
  if (std::string note = drop_repeated_traces(analyzed->ranks); !note.empty())
    analyzed->warnings.push_back(std::move(note));
  if (std::string note = keep_last_start(analyzed->ranks); !note.empty())
    analyzed->warnings.push_back(std::move(note));
  EvaluateOptions evaluation;
  evaluation.path_map = path_map_of(options.source, *config);
  evaluation.select = config->select;
  evaluation.ignore = config->ignore;
  evaluation.severities = config->severities;
  describe_files(*analyzed, evaluation);
  SourceStore& sources = analyzed->sources;

  ReportInput input;
  input.inputs.assign(inputs.begin(), inputs.end());
  if (const Status status = describe_run(analyzed->manifests, analyzed->ranks, input); !status)
    return status.error();
  input.environment = std::move(analyzed->environment);
  input.warnings = std::move(analyzed->warnings);
  if (options.ranks.empty()) input.errors = missing_ranks(analyzed->ranks);
  progress.update("merging ranks");
  for (const RankSummary& rank : analyzed->ranks)  // the worst speaks for all
    if (rank.replay_error >= 0)
      input.replay_error = std::max(input.replay_error.value_or(0), rank.replay_error);
  input.summary = merge_ranks(std::move(analyzed->ranks));
  for (const std::string& fault : collective_order_faults(input.summary))
    input.errors.push_back(
        {.message = fault,
         .remedy = "compare the ranks' code around it, or record with more room for events",
         .code = "collective-order"});

  progress.update("reading the program's source");
  std::optional<SourceOfRun> source =
      source_of_run(options.source, input.summary, analyzed->manifests, evaluation.path_map, *rules,
                    input.warnings);
  progress.update("evaluating rules");
  evaluation.source_was_analysed = source.has_value();
  // A folder that somebody names is asked for as a whole.
  evaluation.loaded_only = options.source.what == "auto";
  if (!source) source.emplace();
  evaluation.files = std::move(source->files);
  if (!config->select.empty() || !config->ignore.empty())
    input.warnings.push_back(config->file + " switches rules off: the list of rules says which.");
  RuleResults results = evaluate(*rules, &input.summary, source->facts, evaluation);
  if (!results.not_loaded.empty()) input.warnings.push_back(left_out_note(results.not_loaded));
  input.findings = std::move(results.findings);
  input.rules = std::move(results.rules);
  const FileJoin files = file_join(source->facts, evaluation);
  for (Finding& finding : input.findings) sources.add_snippet(finding, files);
  progress.clear();
  return build_report(std::move(input));
}

Status write_reports(const Report& report, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{.message = "cannot create: " + error.message(), .file = folder};
  for (const char* name : {"html", "json"}) {
    const Format* format = find_format(name);
    const std::string path = folder + "/" + std::string(format->file_name);
    if (fs::exists(path, error)) {
      const Result<std::string> old = read_file(path);
      if (!old || old->find("stallscope") == std::string::npos)
        return Error{.message = "exists and is no stallscope report",
                     .file = path,
                     .remedy = "choose another folder with -o"};
    }
    const Result<std::string> text = format->render(report);
    if (!text) return text.error();
    if (const Status written = write_file(path, *text); !written) return written;
  }
  return ok_status();
}

}  // namespace stallscope
