// `stallscope report`: analyse recorded or imported traces.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/pipeline.h"
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
  bool quiet = false;
};

/// Beside the run that is reported; a folder of its own for other tools' traces.
std::string default_folder(const std::vector<std::string>& inputs) {
  const std::string trace = inputs.size() == 1 ? trace_folder_of(inputs[0]) : std::string();
  if (trace.empty()) return "stallscope-report";
  std::error_code error;
  const bool is_root = !fs::equivalent(trace, inputs[0], error);
  return is_root ? inputs[0] : fs::path(trace).parent_path().string();
}

int report(const ReportOptions& options) {
  set_quiet(options.quiet);
  Progress progress;
  const Result<Report> made = make_report(options.inputs, options.pipeline, progress);
  progress.clear();
  if (!made) {
    print_error(made.error());
    return kExitCannot;
  }
  for (const Error& error : made->errors) print_message("warning: " + error.to_string());
  const bool to_stdout =
      options.output == "-" || (options.output.empty() && !options.format.empty());
  const std::string format = options.format.empty() ? "text" : options.format;
  if (!to_stdout) {
    const std::string folder =
        options.output.empty() ? default_folder(options.inputs) : options.output;
    if (const Status written = write_reports(*made, folder); !written) {
      print_error(written.error());
      return kExitCannot;
    }
    print_where(folder);
    if (options.quiet) return kExitClean;
  }
  const Format* renderer = find_format(format);
  const Result<std::string> text = renderer->render(*made);
  if (!text) {
    print_error(text.error());
    return kExitCannot;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return std::fflush(stdout) == 0 ? kExitClean : kExitCannot;
}

const RegisterCommand registration({
    .name = "report",
    .summary = "Analyse recorded runs or other tools' traces",
    .examples =
        "Examples:\n"
        "  stallscope report stallscope-report                  merge ranks, analyse again\n"
        "  stallscope report trace.json.gz -o out               PyTorch profiler trace\n"
        "  stallscope report rank0.json rank1.json -o out       several ranks\n"
        "  stallscope report run.sqlite --format json -o -      to standard output",
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
      app.add_flag("-q,--quiet", options->quiet, "No progress, no summary");
      return [options] { return report(*options); };
    },
});

}  // namespace
}  // namespace stallscope
