// `stallscope run`: record a program, analyse, write the report.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/terminal.h"
#include "cli/command.h"
#include "cli/measure_overhead.h"
#include "cli/pipeline.h"
#include "cli/report_options.h"
#include "record/gpu_cost.h"
#include "record/launcher.h"
#include "record/recorder.h"
#include "trace/step_names.h"

namespace stallscope {
namespace {

struct RunOptions {
  RecordOptions record;
  PipelineOptions pipeline;
  std::string capture;
  std::string annotate = "auto";
  double delay_s = 0, duration_s = 0;
  uint32_t measure_overhead = 0;
  bool no_report = false;
  bool quiet = false;
};

/// ^C while the report is being made: the recording is safe, so say how to go on.
void interrupted_in_analysis(int) {
  constexpr char kText[] =
      "\nstallscope: interrupted; the recording is complete: `stallscope report DIR` makes the "
      "report\n";
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(kExitInterrupted);
}

/// The exit code when the report could not be made: the program's own failure comes first.
int cannot_report(const Recording& recording, const Error& error) {
  print_error(error);
  print_message("the recording is in " + recording.folder.trace +
                "; `stallscope report` reads it again");
  const int code = recording.end.shell_exit_code();
  return code != 0 ? code : kExitCannot;
}

void print_summary(const Report& report) {
  const Format* text = find_format("text");
  if (text == nullptr) return;
  if (const Result<std::string> summary = text->render(report))
    std::fputs(summary->c_str(), stderr);
}

/// True when some rank's steps are those that the recorder counts.
bool counts_steps(const Report& report) {
  return std::ranges::any_of(report.summary.ranks, [](const RankSummary& rank) {
    const std::string& marker = rank.step_marker;
    return rank.step_source == StepSource::given_range ||
           (rank.step_source == StepSource::named_range &&
            (marker == kOptimizerStep ||
             step_marker_index(marker.data(), marker.size()) < kStepMarkerCount));
  });
}

/// What to say when --steps could not be counted: the report may know a range that they can be
/// counted by.
std::string steps_had_no_effect(const Report& report) {
  const auto found = std::ranges::find_if(
      report.summary.ranks, [](const RankSummary& rank) { return !rank.step_marker.empty(); });
  return "warning: --steps had no effect: no range marked a step, so everything was recorded; name "
         "the one that does with --step-range " +
         (found == report.summary.ranks.end() ? "NAME" : "'" + found->step_marker + "'") +
         ", or use --duration";
}

int analyse(const RunOptions& options, const Recording& recording) {
  const RunFolder& folder = recording.folder;
  FolderLock merging;
  std::string input = folder.trace;
  if (folder.one_of_many) {
    const Result<bool> last = claim_merge(folder, recording.manifest.identity, merging);
    if (!last) return cannot_report(recording, last.error());
    if (!*last) {
      print_message("rank " + std::to_string(recording.manifest.identity.rank) +
                    " is recorded; the last rank to end writes the report");
      return recording.end.shell_exit_code();
    }
    input = std::filesystem::path(folder.trace).parent_path().string();
  }
  std::signal(SIGINT, interrupted_in_analysis);
  Progress progress;
  const std::vector<std::string> inputs = {input};
  const Result<Report> report = make_report(inputs, options.pipeline, progress);
  progress.clear();
  if (!report) return cannot_report(recording, report.error());
  if (const Status written = write_reports(*report, folder.root); !written)
    return cannot_report(recording, written.error());
  if (options.record.steps > 0 && !counts_steps(*report))
    print_message(steps_had_no_effect(*report));
  if (!options.quiet) print_summary(*report);
  print_where(folder.root);
  return recording.end.shell_exit_code();
}

void print_end(const ChildEnd& end) {
  if (end.signal)
    print_message("the program was ended by signal " + std::to_string(*end.signal) + " (" +
                  ::strsignal(*end.signal) + "); this is what was recorded until then");
  else if (end.exit_code.value_or(0) != 0)
    print_message("the program ended with exit code " + std::to_string(*end.exit_code));
}

constexpr std::string_view kRange = "range:";
constexpr std::string_view kCudaProfiler = "cuda-profiler";

/// Thirty years; more milliseconds would be no number of ours.
constexpr double kMostSeconds = 1e9;

std::string check_capture(const std::string& text) {
  const bool range = text.starts_with(kRange) && text.size() > kRange.size();
  return range || text == "all" || text == kCudaProfiler
             ? std::string()
             : "expected all, cuda-profiler or range:NAME";
}

int run(RunOptions& options) {
  set_quiet(options.quiet);
  RecordOptions& record_options = options.record;
  record_options.delay_ms = static_cast<uint64_t>(options.delay_s * 1000);
  record_options.annotate = options.annotate == "auto";
  record_options.duration_ms = static_cast<uint64_t>(options.duration_s * 1000);
  record_options.capture_profiler = options.capture == kCudaProfiler;
  if (record_options.capture_profiler && record_options.gpu == "none") {
    print_error({.message = "--capture cuda-profiler sees the program's calls through CUPTI, which "
                            "--gpu none leaves alone",
                 .remedy = "leave out --gpu none, or use --capture range:NAME"});
    return kExitCannot;
  }
  if (options.capture.starts_with(kRange))
    record_options.capture_range = options.capture.substr(kRange.size());

  record_options.step_range = options.pipeline.analyze.step_range;
  if (!options.no_report) {
    const Result<Config> config = config_of(options.pipeline.source);
    if (!config) return fail(config.error());
    if (const Status usable = expect_usable(*config, options.pipeline); !usable)
      return fail(usable.error());
  }

  std::optional<PairedOverhead> overhead;
  if (options.measure_overhead > 0) {
    Result<std::optional<PairedOverhead>> measured =
        measure_overhead(record_options, options.measure_overhead);
    if (!measured) return fail(measured.error());
    overhead = *measured;
  }
  Result<Recording> recording = record(record_options, overhead);
  if (!recording) return fail(recording.error());
  print_end(recording->end);
  if (options.no_report) {
    print_message("recorded into " + recording->folder.trace);
    return recording->end.shell_exit_code();
  }
  return analyse(options, *recording);
}

void add_options(CLI::App& app, RunOptions& options) {
  RecordOptions& record_options = options.record;
  app.add_option("-o,--output", record_options.folder,
                 "Folder for report.html, report.json and trace/ (default stallscope-report)")
      ->type_name("DIR");
  app.add_flag("--force", record_options.force,
               "Delete an earlier run in DIR (default: it is moved to DIR/earlier)");
  const CLI::Validator seconds = zero_or_more() & CLI::Range(0.0, kMostSeconds);
  app.add_option("--delay", options.delay_s, "Record nothing for the first seconds")
      ->type_name("SECONDS")
      ->check(seconds);
  app.add_option("--duration", options.duration_s,
                 "Record for this long; the program itself runs on to its end")
      ->type_name("SECONDS")
      ->check(seconds);
  app.add_option("--steps", record_options.steps,
                 "Record N whole steps (and the cut ones at both ends), counted by the ranges that "
                 "mark them, else by the optimizer's steps; the program itself runs on to its end")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option(
         "--capture", options.capture,
         "all (default), or only while a range of a name is open (range:NAME), or between "
         "cudaProfilerStart and cudaProfilerStop (cuda-profiler: every such window; without "
         "one nothing is recorded, and where CUPTI cannot be had everything is)")
      ->type_name("WHEN")
      ->check(CLI::Validator(check_capture, ""));
  app.add_option("--max-size", record_options.max_bytes,
                 "Largest recording of one process, e.g. 2GB; then the oldest events go")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--gpu", record_options.gpu,
                 "none (" + gpu_cost("none") +
                     "), light (default; a CUDA graph launch is one event; " + gpu_cost("light") +
                     ") or full (each kernel of a graph is one; " + gpu_cost("full") + ")")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"none", "light", "full"}));
  app.add_option("--sample-rate", record_options.sample_rate_hz,
                 "Python stack samples per second and thread (default 200; 0 = none)")
      ->type_name("HZ")
      ->check(CLI::Range(0, 10'000));
  app.add_option("--annotate", options.annotate,
                 "auto (default): mark backward, optimizer steps, data waits, collectives and "
                 "jitted calls of PyTorch and JAX programs; off: leave them as they are")
      ->type_name("MODE")
      ->check(CLI::IsMember({"auto", "off"}));
  app.add_option("--measure-overhead", options.measure_overhead,
                 "First run the program in N pairs, with and without recording, and report the "
                 "difference")
      ->type_name("N")
      ->check(CLI::Range(2, 100));
  app.add_flag("--live", record_options.live, "Status line while the program runs");
  app.add_flag("--no-report", options.no_report, "Record only; `stallscope report` reads it later");
  add_pipeline_options(app, options.pipeline);
  app.add_flag("-q,--quiet", options.quiet, "No messages, no summary");
  app.add_option("command", record_options.command, "The program and its arguments, behind --")
      ->type_name("");
}

const RegisterCommand run_registration({
    .name = "run",
    .summary = "Record a program, then say what stalls it",
    .examples =
        "The exit code is the program's own (128 + signal), or 2 when it could not be started.\n"
        "\n"
        "Examples:\n"
        "  stallscope run -- python train.py\n"
        "  stallscope run -o out -- torchrun --nproc-per-node 2 train.py\n"
        "  mpirun -n 2 stallscope run -o out -- ./train      the last rank writes the report\n"
        "  stallscope run --delay 60 --duration 30 -- ./train",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<RunOptions>();
      add_options(app, *options);
      return [options] {
        if (options->record.command.empty()) {
          print_error({.message = "no command to run",
                       .remedy = "put it behind --, as in `stallscope run -- python train.py`"});
          return static_cast<int>(kExitCannot);
        }
        return run(*options);
      };
    },
});

}  // namespace
}  // namespace stallscope
