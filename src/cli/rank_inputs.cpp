#include "cli/rank_inputs.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>

#include "analyze/analyze.h"
#include "base/parallel.h"
#include "cli/run_info.h"
#include "import/profile_cycles.h"
#include "import/summary_head.h"
#include "replay/price.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// Text of traces that are read at once; a trace in memory takes about half of its text.
constexpr uint64_t kTextAtOnce = 1ULL << 30;
/// Traces compress to about a fifteenth.
constexpr uint64_t kInflates = 15;

bool wanted(const std::vector<int>& ranks, int rank) {
  return ranks.empty() || std::ranges::find(ranks, rank) != ranks.end();
}

uint64_t text_bytes(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    const uint64_t bytes = fs::file_size(path, error);
    const bool packed = path.ends_with(".gz") || path.ends_with(".zst");
    return error ? 0 : bytes * (packed ? kInflates : 1);
  }
  uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  return bytes;
}

/// Lets large traces in one after the other and small ones together.
class Gate {
 public:
  void enter(uint64_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return inside_ == 0 || inside_ + bytes <= kTextAtOnce; });
    inside_ += bytes;
  }
  void leave(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    inside_ -= bytes;
    room_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_;
  uint64_t inside_ = 0;
};

Result<RankInput> read_traces(const std::vector<std::string>& cycles,
                              const PipelineOptions& options,
                              const std::function<void(double)>& progress) {
  ImportOptions import;
  import.max_inflated_bytes = options.max_inflated_bytes;
  import.progress = progress;
  const Result<std::vector<Trace>> traces = import_cycles(cycles, import);
  if (!traces) return traces.error();
  const std::string& path = cycles.front();
  RankInput input;
  Result<std::optional<RunManifest>> manifest = manifest_of_input(path);
  if (!manifest) return manifest.error();
  input.manifest = std::move(*manifest);
  input.sources.load(path);
  for (const Trace& trace : *traces) {
    input.warnings.insert(input.warnings.end(), trace.health.warnings.begin(),
                          trace.health.warnings.end());
    input.environment.insert(trace.environment.begin(), trace.environment.end());
    for (RankSummary& rank : analyze_trace(trace, options.analyze)) {
      if (!wanted(options.ranks, rank.rank)) continue;
      price_by_replay(trace, rank);
      input.sources.cite(rank);
      for (Observation& observation : rank.observations) observation.events = {};
      input.ranks.push_back(std::move(rank));
    }
  }
  input.sources.save(path);
  return input;
}

Result<RankInput> read_input(const std::vector<std::string>& cycles, const PipelineOptions& options,
                             const std::function<void(double)>& progress) {
  const std::string& path = cycles.front();
  const Result<ImportSource> source = open_source(path);
  if (!source || !is_summary(*source)) return read_traces(cycles, options, progress);
  Result<RankInput> input = read_summary_file(path);
  if (input)
    std::erase_if(input->ranks,
                  [&](const RankSummary& rank) { return !wanted(options.ranks, rank.rank); });
  return input;
}

}  // namespace

Status for_each_rank_input(const std::vector<std::string>& paths, const PipelineOptions& options,
                           Progress& progress,
                           const std::function<Status(size_t input_index, RankInput input)>& take) {
  const std::vector<std::vector<std::string>> inputs = cycles_together(paths);
  Gate gate;
  std::mutex mutex;  // of everything below, and of `progress`
  size_t done = 0, failed = inputs.size();
  std::optional<Error> error;
  const auto show = [&](size_t i, double fraction) {
    const std::lock_guard lock(mutex);
    const std::string name = fs::path(inputs[i].front()).filename().string();
    progress.update(inputs.size() == 1 ? "reading " + name
                                       : "reading " + std::to_string(done + 1) + " of " +
                                             std::to_string(inputs.size()) + ": " + name,
                    fraction);
  };
  const auto fail = [&](size_t i, const Error& reason) {
    if (i > failed) return;
    failed = i;
    error = reason;
  };
  parallel_for(inputs.size(), [&](size_t i) {
    {
      const std::lock_guard lock(mutex);
      if (error) return;
    }
    uint64_t bytes = 0;
    for (const std::string& path : inputs[i]) bytes += text_bytes(path);
    gate.enter(bytes);
    show(i, -1);
    Result<RankInput> input =
        read_input(inputs[i], options, [&](double fraction) { show(i, fraction); });
    gate.leave(bytes);
    const std::lock_guard lock(mutex);
    ++done;
    if (!input) {
      fail(i, input.error());
    } else if (const Status taken = take(i, std::move(*input)); !taken) {
      fail(i, taken.error());
    }
  });
  if (error) return *error;
  return ok_status();
}

}  // namespace stallscope
