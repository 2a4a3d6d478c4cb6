// Importer "stallscope-run": one rank of a recorded run, from its segments.
#include "import/run_folder.h"

#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "import/importer.h"
#include "import/merge_profile.h"
#include "import/sample_reader.h"
#include "import/segment_reader.h"
#include "import/symbolize.h"
#include "trace/sample_file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

bool is_segment(const ImportSource& source) {
  uint64_t magic = 0;
  if (source.head.size() < sizeof magic) return false;
  std::memcpy(&magic, source.head.data(), sizeof magic);
  return magic == segment::kMagic;
}

int sniff_run_folder(const ImportSource& source) {
  if (!source.is_directory) return is_segment(source) ? 100 : 0;
  std::error_code error;
  const bool ours = fs::exists(fs::path(source.path) / kManifestFile, error) ||
                    !files_with_suffix(source.path, segment::kFileSuffix).empty() ||
                    !files_with_suffix(source.path, kSampleSuffix).empty();
  return ours ? 100 : 0;
}

/// Files of a folder: beside run.json when they were gathered, on node-local
/// storage when the recorder was killed before it could gather them.
std::vector<std::string> recorded_files(const std::string& folder, const RunManifest* manifest,
                                        std::string_view suffix) {
  std::vector<std::string> files = files_with_suffix(folder, suffix);
  if (files.empty() && manifest != nullptr && !manifest->recording_folder.empty())
    files = files_with_suffix(manifest->recording_folder, suffix);
  return files;
}

void apply_manifest(const RunManifest& manifest, Trace& trace) {
  for (const auto& [key, value] : manifest.environment) trace.environment.emplace(key, value);
  TraceHealth& health = trace.health;
  health.warnings.insert(health.warnings.end(), manifest.warnings.begin(), manifest.warnings.end());
  if (!manifest.complete) {
    health.cut_short = true;
    health.warnings.emplace_back(
        "the recorder was still running or was killed, so the end of the run may be missing (run "
        "`stallscope report` again when it is over)");
  }
  // The recorder's own rank stands for processes whose launcher hid it from them.
  for (Process& process : trace.processes) {
    if (process.rank >= 0 || manifest.identity.rank < 0) continue;
    process.rank = manifest.identity.rank;
    process.local_rank = manifest.identity.local_rank;
    process.world_size = manifest.identity.world_size;
  }
}

/// What profilers of the program's own saw while the recording had holes because of them.
void merge_profiles(const std::string& folder, const RunManifest* manifest, Ns realtime_offset,
                    const ImportOptions& options, Trace& trace) {
  if (trace.health.holes.empty()) return;  // else the same work would be there twice
  for (const std::string& file : recorded_files(folder, manifest, kProfileSuffix)) {
    const Result<Trace> profile = import_trace(file, options);
    const uint64_t added = profile ? merge_profile(*profile, realtime_offset, trace) : 0;
    trace.health.warnings.push_back(
        profile ? "the profile that the program made of itself fills the hole it left: " +
                      std::to_string(added) + " events were taken from it"
                : "the profile that the program made of itself cannot be read: " +
                      profile.error().to_string());
  }
}

/// Collectives that the program started without Python.
void merge_collective_lists(const std::string& folder, const RunManifest* manifest,
                            Ns realtime_offset, const std::vector<CaptureWindow>* only,
                            const ImportOptions& options, Trace& trace) {
  for (const std::string& file : recorded_files(folder, manifest, kCollectivesSuffix)) {
    const Result<Trace> list = import_trace(file, options);
    if (list)
      merge_collectives(*list, realtime_offset, only, trace);
    else
      trace.health.warnings.push_back("a list of collectives cannot be read: " +
                                      list.error().to_string());
  }
}

Result<Trace> read_folder(const std::string& folder, const ImportOptions& options) {
  const Result<RunManifest> manifest = manifest_of(folder);
  const RunManifest* const found = manifest ? &*manifest : nullptr;
  std::error_code error;
  const bool has_manifest = fs::exists(fs::path(folder) / kManifestFile, error) ||
                            fs::exists(fs::path(folder).parent_path() / kManifestFile, error);
  if (has_manifest && !manifest) return manifest.error();

  RunSymbols symbols;
  const std::string symbols_file = folder + "/" + std::string(kSymbolsFile);
  if (const Result<std::string> known = read_file(symbols_file)) symbols.load(*known);

  Trace trace;
  trace.producer = "recorded";
  const std::vector<std::string> segments = recorded_files(folder, found, segment::kFileSuffix);
  Ns realtime_offset = 0;
  std::vector<CaptureWindow> windows;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Result<SegmentContents> contents =
        read_segment(segments[i], trace, options, symbols.symbolizer());
    if (!contents) {
      trace.health.cut_short = true;
      trace.health.warnings.push_back("a segment cannot be read: " + contents.error().to_string());
      continue;
    }
    realtime_offset = contents->realtime_offset;
    windows.insert(windows.end(), contents->windows.begin(), contents->windows.end());
    for (const std::string& note : contents->notes) trace.health.warnings.push_back(note);
    if (options.progress)
      options.progress(static_cast<double>(i + 1) / static_cast<double>(segments.size()));
  }
  const std::vector<std::string> samples = recorded_files(folder, found, kSampleSuffix);
  windows = merged(std::move(windows));
  const bool bounded = found != nullptr && found->environment.contains(kCaptureFact);
  const std::vector<CaptureWindow>* const only = bounded ? &windows : nullptr;
  for (const std::string& file : samples)
    if (const Status status = read_samples(file, trace, symbols.symbolizer(), only); !status)
      trace.health.warnings.push_back("stack samples cannot be read: " +
                                      status.error().to_string());
  merge_collective_lists(folder, found, realtime_offset, only, options, trace);
  merge_profiles(folder, found, realtime_offset, options, trace);
  if (bounded) state_windows(windows, trace.health);
  if (manifest) apply_manifest(*manifest, trace);
  if (segments.empty() && samples.empty())
    trace.health.warnings.emplace_back(
        "nothing was recorded: the program used neither CUDA nor NVTX nor MPI, and ran no Python "
        "long enough to be sampled (add NVTX ranges, or see `stallscope doctor`)");
  // Kept with the run, so that it reads the same where the binaries are not. A
  // folder that cannot be written is read all the same.
  if (symbols.changed()) (void)write_file(symbols_file, symbols.to_json());
  trace.finish();
  return trace;
}

Result<Trace> read_run_folder(const ImportSource& source, const ImportOptions& options) {
  if (source.is_directory) return read_folder(source.path, options);
  RunSymbols symbols;
  Trace trace;
  trace.producer = "recorded";
  const Result<SegmentContents> contents =
      read_segment(source.path, trace, options, symbols.symbolizer());
  if (!contents) return contents.error();
  trace.health.warnings.insert(trace.health.warnings.end(), contents->notes.begin(),
                               contents->notes.end());
  trace.finish();
  return trace;
}

const RegisterImporter kRunFolderImporter({.name = "stallscope-run",
                                           .description = "folder that `stallscope run` recorded",
                                           .sniff = sniff_run_folder,
                                           .read = read_run_folder});

}  // namespace
}  // namespace stallscope
