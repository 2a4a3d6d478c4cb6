// run.json: what a run folder says about itself. Written by the parent process
// when the run starts and again when it ends; read by the importer. Its schema
// is published as reports/run.schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stallscope {

inline constexpr std::string_view kManifestFile = "run.json";
/// The file beside run.json with the source lines that the run's stacks name.
inline constexpr std::string_view kSourcesFile = "sources.json";
/// The file beside run.json with symbolised addresses, for machines without the binaries.
inline constexpr std::string_view kSymbolsFile = "symbols.json";

/// The entry of RunManifest::environment that says that the recording was bounded by the program.
inline constexpr char kCaptureFact[] = "capture";

/// The entry of it that says which part of the run was asked for, in the options' words.
inline constexpr char kBoundsFact[] = "capture.bounds";

/// The entry of it that names the kinds of GPUs that the machine has, whether or not the program
/// uses them, joined by commas.
inline constexpr char kGpusFact[] = "node.gpus";

/// The entry of it that says whether cuDNN was told to try its algorithms: 1, 0, or mixed.
inline constexpr char kCudnnBenchmarkFact[] = "torch.cudnn_benchmark";

/// The entry of it that lists installed packages outside the usual folders, joined by colons.
inline constexpr char kInstalledFact[] = "python.installed";

/// Whether an entry of it counts what one recorder did, which is never the same on two ranks.
bool counts_recording(std::string_view fact);

/// Sub-folders of a run with the segments of one rank begin with this, then its number.
inline constexpr std::string_view kRankFolderPrefix = "rank-";
/// Sub-folder with the segments of processes that are no rank of anything.
inline constexpr std::string_view kLocalFolder = "local";

/// A process's place in a distributed run. Unknown is -1, worldSize 0.
struct RankIdentity {
  int32_t rank = -1;
  int32_t local_rank = -1;
  int32_t world_size = 0;
  std::string launcher;  ///< "torchrun", "openmpi", "mpich", "slurm"; empty = none
  std::string job;       ///< equal on all ranks of one launch; empty = unknown
};

/// The paired cost of recording: relative difference of wall time.
struct PairedOverhead {
  double difference = 0, low = 0, high = 0;
  uint32_t pairs = 0;
};

/// The hash of a file that changed after it was loaded, while the run was recorded: of no file.
inline constexpr char kChangedWhileRecorded[] = "changed";

/// Lines of a file that the run loaded, as ranges: "1-5,7". All empty where lines were not
/// watched.
struct RecordedLines {
  std::string watched;   ///< whose run would have been seen
  std::string hit;       ///< that ran
  std::string compiled;  ///< of functions that never ran as written, in a run that compiled some
  std::string hash;      ///< content_hash() of what was loaded; empty = unknown
};

struct RunManifest {
  std::string id;
  bool complete = false;  ///< false: still recording, or the recorder was killed
  std::vector<std::string> command;
  std::string working_directory;
  std::string started_at;        ///< ISO 8601, UTC
  std::optional<Ns> duration;    ///< wall time of the program
  std::optional<int> exit_code;  ///< unknown while it runs, and when a signal ended it
  std::optional<int> signal;     ///< the signal that ended it
  bool interrupted = false;      ///< the user ended it by ^C, SIGTERM or the like
  std::string recording_folder;  ///< node-local; where the segments are until complete
  RankIdentity identity;         ///< of this recorder, when it was itself started as a rank
  uint64_t sample_rate_hz = 0;   ///< Python sampling; 0 = off
  std::optional<PairedOverhead> overhead;
  std::map<std::string, std::string> environment;  ///< "cpu.model", "kernel", ...
  std::vector<std::string> warnings;               ///< one sentence each, with its remedy
  std::map<std::string, RecordedLines> lines;      ///< by file, where the recording can tell
  uint32_t silent_processes = 0;  ///< Python's that left no word of it where others did

  /// The exit code as a shell shows it: 128 + signal.
  std::optional<int> shell_exit_code() const;
};

std::string manifest_to_json(const RunManifest& manifest);

/// Parses and checks run.json. `file` names it in errors, which carry the position.
Result<RunManifest> parse_manifest(std::string_view json, const std::string& file);

/// Reads FOLDER/run.json.
Result<RunManifest> read_manifest(const std::string& folder);

}  // namespace stallscope
