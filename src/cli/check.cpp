// `stallscope check`: assertions on a run, for continuous integration.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/report_options.h"
#include "cli/run_inputs.h"
#include "report/gate.h"
#include "report/json_parts.h"
#include "report/text_safety.h"
#include "rule/outcome.h"

namespace stallscope {
namespace {

struct CheckOptions {
  std::vector<std::string> inputs;
  std::string config;  ///< empty = the nearest stallscope.yml
  std::string baseline;
  std::string format = "text";
  bool update = false;
  PipelineOptions pipeline;
};

std::string text_of(const std::vector<GateResult>& results) {
  std::string text;
  for (const GateResult& result : results) {
    const char* word = result.undecided ? "CANNOT TELL" : result.passed ? "ok" : "FAILED";
    text += std::string(word) + "  " + one_line(result.assertion) + "\n";
    text += "    expected: " + one_line(result.expected) + "\n";
    text += "    found:    " + one_line(result.found) + "\n";
    if (result.passed) continue;
    for (const std::string& line : result.evidence)
      if (!line.empty()) text += "    evidence: " + one_line(line) + "\n";
    if (!result.next.empty()) text += "    next:     " + one_line(result.next) + "\n";
  }
  return text;
}

std::string json_of(const std::vector<GateResult>& results, int code) {
  Json rows = Json::array();
  for (const GateResult& result : results)
    rows.push_back({{"assertion", result.assertion},
                    {"outcome", result.undecided ? "cannot-tell"
                                : result.passed  ? "passed"
                                                 : "failed"},
                    {"expected", result.expected},
                    {"found", result.found},
                    {"evidence", result.evidence},
                    {"next", text_or_null(result.next)}});
  const Json document = {{"schemaVersion", "1.0"}, {"exitCode", code}, {"assertions", rows}};
  return dump(document, 1) + "\n";
}

/// What is asserted of a rule that the same settings switch off would hold for ever.
Status expect_switched_on(const Config& config) {
  EvaluateOptions settings;
  settings.select = config.select;
  settings.ignore = config.ignore;
  std::vector<std::string> asserted = config.check.no_new;
  for (const auto& [what, limit] : config.check.findings) asserted.push_back(what);
  for (const std::string& id : asserted) {
    Rule rule;
    rule.id = id;
    if (id == "all" || severity_of(id) || is_selected(rule, settings)) continue;
    return Error{
        .message = "check asserts something of " + id + ", which the settings switch off",
        .file = config.file,
        .remedy = "leave it out of `ignore`, name it in `select`, or assert nothing of it"};
  }
  return ok_status();
}

int check(const CheckOptions& options) {
  const std::string config_file = options.config.empty() ? find_config(".") : options.config;
  if (config_file.empty())
    return fail({.message = "there is no stallscope.yml here or above",
                 .remedy = "write one (see stallscope check --help), or name it with --config"});
  const Result<Config> config = load_config(config_file);
  if (!config) return fail(config.error());
  // An assertion about a rule that nobody has would hold for ever, and so would one about the
  // settings' own rules if they were not looked for.
  if (const Status usable = expect_usable(*config, options.pipeline); !usable)
    return fail(usable.error());
  if (const Status on = expect_switched_on(*config); !on) return fail(on.error());
  PipelineOptions pipeline = options.pipeline;
  add_rule_folders(*config, pipeline.rule_folders);
  const CheckSettings& settings = config->check;
  const std::string baseline_file = options.baseline.empty() ? settings.baseline : options.baseline;
  const Result<std::vector<RunMeasures>> runs = load_runs(options.inputs, pipeline);
  if (!runs) return fail(runs.error());

  if (options.update) {
    if (baseline_file.empty())
      return fail({.message = "no baseline file is named",
                   .file = config_file,
                   .remedy = "add `baseline: FILE` below check:, or give --baseline FILE"});
    for (const RunMeasures& run : *runs)
      if (run.steps.empty())
        return fail(
            {.message = "cannot be a baseline: " + run.abstentions.front(), .file = run.label});
    if (const Status written = write_file(baseline_file, write_baseline(*runs)); !written)
      return fail(written.error());
    print_message("baseline written: " + baseline_file);
    return kExitClean;
  }

  if (asserts_nothing(settings))
    return fail({.message = "asserts nothing",
                 .file = config_file,
                 .remedy = "add a check: part (see stallscope check --help)"});
  std::vector<RunMeasures> baseline;
  std::error_code error;
  if (!baseline_file.empty() && std::filesystem::exists(baseline_file, error)) {
    const Result<std::string> text = read_file(baseline_file);
    if (!text) return fail(text.error());
    Result<std::vector<RunMeasures>> read = read_baseline(*text, baseline_file);
    if (!read) return fail(read.error());
    baseline = std::move(*read);
  }
  const std::vector<GateResult> results = check_gate(settings, *runs, baseline);
  // What failed for certain matters more than what could not be told.
  int code = kExitClean;
  for (const GateResult& result : results) {
    if (result.undecided && code == kExitClean) code = kExitCannot;
    if (!result.undecided && !result.passed) code = kExitFindings;
  }
  const std::string text = options.format == "json" ? json_of(results, code) : text_of(results);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 ? code : kExitCannot;
}

const RegisterCommand check_registration({
    .name = "check",
    .summary = "Check a run against the assertions in stallscope.yml, for CI",
    .examples = "stallscope.yml:\n"
                "  check:\n"
                "    step-time: <= 120 ms\n"
                "    classes: {exposed-communication: <= 10 %, host-sync: <= 0.5 ms}\n"
                "    findings: {item-in-step: 0, critical: 0}\n"
                "    baseline: stallscope-check.json\n"
                "    tolerance: 3 %        slower than the baseline\n"
                "    no-new: [all]         findings that the baseline has not\n"
                "    repeats: 3\n"
                "Exit codes: 0 all hold, 1 one failed, 2 the data cannot tell.\n"
                "Examples:\n"
                "  stallscope check run1 run2 run3\n"
                "  stallscope check run1 run2 run3 --update-baseline",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<CheckOptions>();
      app.add_option("run", options->inputs,
                     "Repeats of one program: report.json, run folders or traces")
          ->required();
      app.add_option("--config", options->config, "Project file with the assertions")
          ->type_name("FILE");
      app.add_option("--baseline", options->baseline,
                     "Baseline file, instead of the configured one")
          ->type_name("FILE");
      app.add_flag("--update-baseline", options->update, "Write the runs as the new baseline");
      app.add_option("--format", options->format, "What to print")
          ->type_name("FORMAT")
          ->check(CLI::IsMember({"text", "json"}));
      add_pipeline_options(app, options->pipeline);
      return [options] { return check(*options); };
    },
});

}  // namespace
}  // namespace stallscope
