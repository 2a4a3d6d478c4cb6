// `stallscope diff`: is this run faster than that one, and where.
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/report_options.h"
#include "cli/run_inputs.h"
#include "report/comparison.h"

namespace stallscope {
namespace {

struct DiffOptions {
  std::vector<std::string> runs, against;
  std::string format = "text";
  std::string output = "-";
  double spread_percent = -1;
  bool exit_code = false;
  PipelineOptions pipeline;
};

struct Sides {
  std::vector<std::string> before, after;
};

Result<Sides> sides_of(const DiffOptions& options) {
  if (!options.against.empty()) return Sides{options.runs, options.against};
  if (options.runs.size() == 2) return Sides{{options.runs[0]}, {options.runs[1]}};
  return Error{.message = "two runs are compared, or several on either side of --against",
               .remedy = "stallscope diff A B, or stallscope diff A1 A2 --against B1 B2"};
}

std::string rendered(const RunComparison& comparison, const std::string& format) {
  if (format == "json") return render_comparison_json(comparison);
  if (format == "markdown") return render_comparison_markdown(comparison);
  if (format == "html") return render_comparison_html(comparison);
  return render_comparison_text(comparison);
}

int diff(const DiffOptions& options) {
  const Result<Sides> sides = sides_of(options);
  if (!sides) return fail(sides.error());
  const auto before = load_runs(sides->before, options.pipeline);
  if (!before) return fail(before.error());
  const auto after = load_runs(sides->after, options.pipeline);
  if (!after) return fail(after.error());
  const RunComparison comparison =
      compare_runs(*before, *after, options.spread_percent < 0 ? -1 : options.spread_percent / 100);
  const std::string text = rendered(comparison, options.format);
  if (options.output == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) return kExitCannot;
  } else if (const Status written = write_file(options.output, text); !written) {
    return fail(written.error());
  }
  const bool slower = comparison.step_time.verdict == Verdict::slower;
  return options.exit_code && slower ? kExitFindings : kExitClean;
}

const RegisterCommand diff_registration({
    .name = "diff",
    .summary = "Compare two runs: faster, slower, or no evidence, and where",
    .examples = "The second side is judged, seen from the first.\n"
                "Examples:\n"
                "  stallscope diff before/report.json after/report.json\n"
                "  stallscope diff old.json.gz new.json.gz --format markdown\n"
                "  stallscope diff old1 old2 old3 --against new1 new2 new3\n"
                "  stallscope diff A B --exit-code        exit 1 when B is slower",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<DiffOptions>();
      app.add_option("run", options->runs,
                     "Runs before the change: report.json, run folders or traces")
          ->required();
      app.add_option("--against", options->against, "Runs after the change")->type_name("RUN...");
      app.add_option("--format", options->format, "What to print")
          ->type_name("FORMAT")
          ->check(CLI::IsMember({"text", "json", "markdown", "html"}));
      app.add_option("-o,--output", options->output, "File to write; - for standard output")
          ->type_name("FILE");
      app.add_option("--spread", options->spread_percent,
                     "How much runs differ by themselves, in percent, where you know it")
          ->type_name("PERCENT")
          ->check(CLI::Range(0.0, 100.0));
      app.add_flag("--exit-code", options->exit_code, "Exit 1 when the second side is slower");
      add_pipeline_options(app, options->pipeline);
      return [options] { return diff(*options); };
    },
});

}  // namespace
}  // namespace stallscope
