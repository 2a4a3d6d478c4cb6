// `stallscope export`: traces for other tools.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/terminal.h"
#include "cli/command.h"
#include "cli/pipeline.h"
#include "import/importer.h"
#include "report/exporter.h"

namespace stallscope {
namespace {

struct ExportOptions {
  std::vector<std::string> inputs;
  std::string format;
  std::string output;
  bool findings = true;
  bool force = false;
};

/// How far the clock of a trace's rank is ahead of the first rank's, as its report says.
Ns clock_offset_of(const Trace& trace, const Report* report) {
  if (report == nullptr) return 0;
  for (const Process& process : trace.processes) {
    const auto rank = std::ranges::find_if(report->summary.ranks, [&](const RankSummary& summary) {
      return summary.rank == process.rank && summary.pid == process.pid;
    });
    if (rank != report->summary.ranks.end() && rank->rank >= 0) return rank->clock_offset;
  }
  return 0;
}

Status write_export(const Exporter& exporter, const std::vector<std::string>& paths,
                    const Report* report, const std::string& output, Progress& progress) {
  Result<std::unique_ptr<ExportTarget>> target = exporter.open(output);
  if (!target) return target.error();
  for (const std::string& path : paths) {
    progress.update("Exporting " + path);
    Result<Trace> trace = import_trace(path);
    if (!trace) return trace.error();
    trace->shift_times(-clock_offset_of(*trace, report));  // several ranks share one time line
    if (const Status added = (*target)->add(*trace); !added) return added;
  }
  return (*target)->finish(report);
}

int run_export(const ExportOptions& options) {
  const Exporter* exporter = find_exporter(options.format);
  const std::string output =
      options.output.empty() ? std::string(exporter->file_name) : options.output;
  std::error_code ignored;
  if (std::filesystem::exists(output, ignored) && !options.force)
    return fail({.message = "the file exists already",
                 .file = output,
                 .remedy = "use --force to replace it, or -o FILE"});
  const Result<std::vector<std::string>> paths = expand_inputs(options.inputs);
  if (!paths) return fail(paths.error());
  if (paths->size() > 1 && !exporter->many_traces)
    return fail({.message = options.format + " files hold one trace, and the input has " +
                            std::to_string(paths->size()),
                 .remedy = "export one rank at a time, or choose perfetto or sqlite"});
  Progress progress;
  std::optional<Report> report;
  if (options.findings) {
    // Without a verdict or findings the events are still worth having.
    Result<Report> made = make_report(options.inputs, {}, progress);
    if (made)
      report = std::move(*made);
    else
      print_message("exporting events only: " + made.error().to_string());
  }
  const Status written =
      write_export(*exporter, *paths, report ? &*report : nullptr, output, progress);
  progress.clear();
  if (!written) return fail(written.error());
  print_message("wrote " + output);
  return kExitClean;
}

const RegisterCommand export_registration({
    .name = "export",
    .summary = "Write traces in formats that other tools open",
    .examples = "Examples:\n"
                "  stallscope export stallscope-report --to perfetto    open trace.perfetto-trace "
                "in ui.perfetto.dev\n"
                "  stallscope export run.sqlite --to chrome -o run.json Nsight Systems to Chrome "
                "trace JSON\n"
                "  stallscope export stallscope-report --to sqlite      then: sqlite3 trace.sqlite",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<ExportOptions>();
      std::vector<std::string> names;
      std::string help = "Format:";
      for (const Exporter& exporter : exporters()) {
        names.emplace_back(exporter.name);
        help += "\n" + std::string(exporter.name) + ": " + std::string(exporter.description);
      }
      app.add_option("input", options->inputs, "Run folders or trace files")->required();
      app.add_option("--to", options->format, help)
          ->required()
          ->type_name("FORMAT")
          ->check(CLI::IsMember(names));
      app.add_option("-o,--output", options->output, "File to write")->type_name("FILE");
      app.add_flag("!--no-findings", options->findings, "Events only: skip the analysis");
      app.add_flag("--force", options->force, "Replace the file when it exists");
      return [options] { return run_export(*options); };
    },
});

}  // namespace
}  // namespace stallscope
