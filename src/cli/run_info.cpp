#include "cli/run_info.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "import/run_folder.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// The time the recorder took in a rank's processes, as a share of the run.
std::optional<double> own_fraction(const std::vector<RankSummary>& ranks, Ns duration) {
  std::optional<double> largest;
  if (duration <= 0) return largest;
  for (const RankSummary& rank : ranks) {
    if (rank.health.recorder_own_ns < 0) continue;
    const double fraction = rank.health.recorder_own_ns / static_cast<double>(duration);
    largest = std::max(largest.value_or(0), fraction);
  }
  return largest;
}

/// True for a folder that is one rank of a recorded run, or the run itself.
bool is_recorded(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  return !trace_folder_of(path).empty() ||
         fs::exists(fs::path(path).parent_path() / kManifestFile, error);
}

}  // namespace

Result<std::optional<RunManifest>> manifest_of_input(const std::string& path) {
  if (!is_recorded(path)) return std::optional<RunManifest>();
  Result<RunManifest> manifest = manifest_of(path);
  if (!manifest) return manifest.error();
  return std::optional(std::move(*manifest));
}

Status describe_run(std::span<const RunManifest> manifests, const std::vector<RankSummary>& ranks,
                    ReportInput& input) {
  Ns duration = 0;
  bool first = true;
  for (const RunManifest& manifest : manifests) {
    if (!first && manifest.id != input.run.id)
      return Error{
          .message = "an input belongs to run " + manifest.id + ", others to run " + input.run.id,
          .remedy = "report one run at a time; compare two with `stallscope diff`"};
    duration = std::max(duration, manifest.duration.value_or(0));
    // A rank that failed speaks for the run.
    const std::optional<int> code = manifest.shell_exit_code();
    if (code && (!input.run.exit_code || *input.run.exit_code == 0)) input.run.exit_code = code;
    input.run.interrupted = input.run.interrupted || manifest.interrupted;
    if (manifest.overhead) {
      input.overhead.paired_difference = manifest.overhead->difference;
      input.overhead.paired_low = manifest.overhead->low;
      input.overhead.paired_high = manifest.overhead->high;
    }
    if (!first) continue;
    first = false;
    input.run.id = manifest.id;
    input.run.started_at = manifest.started_at;
    input.run.command = manifest.command;
  }
  input.overhead.own_fraction = own_fraction(ranks, duration);
  return ok_status();
}

}  // namespace stallscope
