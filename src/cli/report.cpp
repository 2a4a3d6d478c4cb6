// `stallscope report`: analyse recorded or imported traces.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "base/file.h"
#include "cli/command.h"
#include "cli/pipeline.h"
#include "cli/rank_inputs.h"
#include "cli/reference.h"
#include "cli/report_options.h"
#include "import/run_folder.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string format;
  PipelineOptions pipeline;
  ReferenceOptions reference;
  bool quiet = false;
  bool summary_only = false;
};

/// Beside the run that is reported; a folder of its own for other tools' traces.
std::string default_folder(const std::vector<std::string>& inputs) {
  const std::string trace = inputs.size() == 1 ? trace_folder_of(inputs[0]) : std::string();
  if (trace.empty()) return "stallscope-report";
  std::error_code error;
  const bool is_root = !fs::equivalent(trace, inputs[0], error);
  return is_root ? inputs[0] : fs::path(trace).parent_path().string();
}

/// One node's share of a large run: a summary per rank, for the report that another node makes.
int summarise(const ReportOptions& options) {
  if (options.output == "-") return fail({.message = "summaries are files: name a folder with -o"});
  const std::string folder = options.output.empty() ? "stallscope-report" : options.output;
  const Result<std::vector<std::string>> paths = expand_inputs(options.inputs);
  if (!paths) return fail(paths.error());
  Progress progress;
  std::set<std::string> names;
  const Status status = for_each_rank_input(
      *paths, options.pipeline, progress,
      [&](size_t, const RankInput& input) { return write_summaries(input, folder, names); });
  progress.clear();
  if (!status) return fail(status.error());
  print_message("wrote " + std::to_string(names.size()) +
                (names.size() == 1 ? " summary" : " summaries") + " to " + folder +
                "; report all of them with: stallscope report " + folder + "/*.summary");
  return kExitClean;
}

int report(const ReportOptions& options) {
  set_quiet(options.quiet);
  if (options.summary_only) return summarise(options);
  Progress progress;
  Result<Report> made = make_report(options.inputs, options.pipeline, progress);
  progress.clear();
  if (!made) return fail(made.error());
  if (const Status compared = add_reference(*made, options.reference, options.inputs); !compared)
    return fail(compared.error());
  const bool to_stdout =
      options.output == "-" || (options.output.empty() && !options.format.empty());
  const std::string format = options.format.empty() ? "text" : options.format;
  if (format != "text" || options.quiet)  // the text says them itself
    for (const Error& error : made->errors) print_message("warning: " + error.to_string());
  if (!to_stdout) {
    const std::string folder =
        options.output.empty() ? default_folder(options.inputs) : options.output;
    if (const Status written = write_reports(*made, folder); !written) return fail(written.error());
    print_where(folder);
    if (options.quiet) return kExitClean;
  }
  const Format* renderer = find_format(format);
  const Result<std::string> text = renderer->render(*made);
  if (!text) return fail(text.error());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return std::fflush(stdout) == 0 ? kExitClean : kExitCannot;
}

const RegisterCommand report_registration({
    .name = "report",
    .summary = "Analyse recorded runs or other tools' traces",
    .examples =
        "Examples:\n"
        "  stallscope report stallscope-report                  merge ranks, analyse again\n"
        "  stallscope report trace.json.gz -o out               PyTorch profiler trace\n"
        "  stallscope report rank0.json rank1.json -o out       several ranks\n"
        "  stallscope report out --reference auto --shape batch=8,seq=128\n"
        "  stallscope report run.sqlite --format json -o -      to standard output\n"
        "  stallscope report rank7.json.gz --summary-only -o s  on each node of a large run, then\n"
        "  stallscope report s/*.summary -o out                 on one of them",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<ReportOptions>();
      app.add_option("input", options->inputs,
                     "Run folders, trace files, folders of traces (one rank each), globs")
          ->required();
      app.add_option("-o,--output", options->output,
                     "Folder for report.html and report.json; - for standard output")
          ->type_name("DIR");
      std::vector<std::string> names;
      for (const Format& format : formats()) names.emplace_back(format.name);
      app.add_option("--format", options->format, "What to print to standard output")
          ->type_name("FORMAT")
          ->check(CLI::IsMember(names));
      add_pipeline_options(app, options->pipeline);
      add_reference_options(app, options->reference);
      app.add_flag("--summary-only", options->summary_only,
                   "Write one small summary per rank instead of a report");
      app.add_flag("-q,--quiet", options->quiet, "No progress, no summary");
      return [options] { return report(*options); };
    },
});

}  // namespace
}  // namespace stallscope
