#include "cli/measure_overhead.h"

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/terminal.h"
#include "record/child.h"
#include "record/environment.h"
#include "record/overhead.h"
#include "record/recorder.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

Result<Ns> time_without(const RecordOptions& options) {
  const Result<ChildEnd> end = run_child({options.command, current_environment()});
  if (!end) return end.error();
  if (end->shell_exit_code() != 0)
    return Error{.message = "the program failed without recording, with exit code " +
                            std::to_string(end->shell_exit_code())};
  return end->duration;
}

Result<Ns> time_with(RecordOptions options) {
  std::error_code error;
  options.folder =
      (fs::temp_directory_path(error) / ("stallscope-overhead-" + std::to_string(::getpid())))
          .string();
  options.live = false;
  const Result<Recording> recording = record(options);
  fs::remove_all(options.folder, error);
  if (!recording) return recording.error();
  if (recording->end.shell_exit_code() != 0)
    return Error{.message = "the program failed while recorded, with exit code " +
                            std::to_string(recording->end.shell_exit_code())};
  return recording->end.duration;
}

}  // namespace

Result<std::optional<PairedOverhead>> measure_overhead(const RecordOptions& options,
                                                       uint32_t pairs) {
  std::vector<PairedRun> runs(pairs);
  for (uint32_t i = 0; i < pairs; ++i) {
    print_message("measuring overhead: pair " + std::to_string(i + 1) + " of " +
                  std::to_string(pairs));
    // Alternating order, so that a drift of the machine favours neither side.
    for (const bool with : {i % 2 == 0, i % 2 != 0}) {
      const Result<Ns> duration = with ? time_with(options) : time_without(options);
      if (!duration) return duration.error();
      (with ? runs[i].with : runs[i].without) = *duration;
    }
  }
  return paired_overhead(runs);
}

}  // namespace stallscope
