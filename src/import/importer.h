// Importer: one file format that becomes a Trace. Each lives in one file, owns
// its detection and its reader, and registers itself; nothing else names it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace stallscope {

/// What a reader may use and report while it works.
struct ImportOptions {
  uint64_t max_inflated_bytes = 64ULL << 30;  ///< refuse beyond: protects from zip bombs
  uint64_t max_events = 4'000'000'000ULL;
  std::function<void(double fraction)> progress;  ///< may be empty; 0 to 1
};

/// One file or folder that holds the trace of one or more ranks.
struct ImportSource {
  std::string path;
  std::string head;  ///< the first bytes (up to 64 KB, inflated when compressed); empty for folders
  bool is_directory = false;
};

struct Importer {
  std::string_view name;         ///< "kineto"
  std::string_view description;  ///< one line for --help
  /// How sure this importer is that it can read the source: 0 = not mine, 100 = certain.
  int (*sniff)(const ImportSource& source) = nullptr;
  Result<Trace> (*read)(const ImportSource& source, const ImportOptions& options) = nullptr;
};

/// Defining one static object of this type registers an importer.
struct RegisterImporter {
  explicit RegisterImporter(const Importer& importer);
};

/// All registered importers, by name.
std::vector<Importer> importers();

/// What `path` is, with the head that importers look at.
Result<ImportSource> open_source(const std::string& path);

/// The importer that is surest of a source; none when no importer knows it.
std::optional<Importer> best_importer(const ImportSource& source);

/// Opens `path` with the importer that is surest of it. An unknown format is an
/// error that names what is understood.
Result<Trace> import_trace(const std::string& path, const ImportOptions& options = {});

/// The files or run folders that make up the input paths: a folder of traces is
/// expanded to its members (one per rank), a run folder to its rank segments.
Result<std::vector<std::string>> expand_inputs(std::span<const std::string> paths);

}  // namespace stallscope
