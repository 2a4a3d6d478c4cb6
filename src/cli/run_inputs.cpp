#include "cli/run_inputs.h"

#include <filesystem>

#include "base/file.h"
#include "import/byte_stream.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// A report.json says so at its head; a trace does not.
bool is_report(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  const Result<std::string> head = read_head(path, 4096);
  return head && head->starts_with('{') &&
         head->find("urn:stallscope:report:") != std::string::npos;
}

// The report that `input` is, or that lies in the folder `input`; empty when there is none.
std::string report_of(const std::string& input) {
  if (is_report(input)) return input;
  const std::string inside = (fs::path(input) / "report.json").string();
  return is_report(inside) ? inside : std::string();
}

Result<RunMeasures> load_run(const std::string& input, const PipelineOptions& options) {
  // Other options than those the report was made with ask for a new analysis.
  const std::string report_file =
      options.analyze.step_range.empty() && options.ranks.empty() ? report_of(input) : "";
  if (!report_file.empty()) {
    const Result<std::string> text = read_file(report_file);
    if (!text) return text.error();
    return measures_of_json(*text, report_file);
  }
  Progress progress;
  const std::string inputs[] = {input};
  const Result<Report> report = make_report(inputs, options, progress);
  progress.clear();
  if (!report) return report.error();
  return measures_of(*report, input);
}

}  // namespace

Result<std::vector<RunMeasures>> load_runs(const std::vector<std::string>& inputs,
                                           const PipelineOptions& options) {
  std::vector<RunMeasures> runs;
  for (const std::string& input : inputs) {
    Result<RunMeasures> run = load_run(input, options);
    if (!run) return run.error();
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace stallscope
