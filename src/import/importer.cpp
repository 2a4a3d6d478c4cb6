#include "import/importer.h"

#include <algorithm>
#include <filesystem>

#include "import/byte_stream.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

std::vector<Importer>& registry() {
  static std::vector<Importer> importers;
  return importers;
}

std::string known_formats() {
  std::string text;
  for (const Importer& importer : importers())
    text += (text.empty() ? "" : "; ") + std::string(importer.name) + ": " +
            std::string(importer.description);
  return text;
}

}  // namespace

RegisterImporter::RegisterImporter(const Importer& importer) {
  registry().push_back(importer);
}

std::vector<Importer> importers() {
  std::vector<Importer> sorted = registry();
  std::ranges::sort(sorted, {}, &Importer::name);
  return sorted;
}

Result<ImportSource> open_source(const std::string& path) {
  constexpr size_t kHead = 64 * 1024;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Error{.message = "no such file or folder", .file = path};
  ImportSource source{.path = path, .head = {}, .is_directory = fs::is_directory(status)};
  if (source.is_directory) return source;
  // A device or a pipe may never end; a trace is a file.
  if (!fs::is_regular_file(status))
    return Error{.message = "is neither a file nor a folder", .file = path};
  Result<std::string> head = read_head(path, kHead);
  if (!head) return head.error();
  source.head = std::move(*head);
  return source;
}

std::optional<Importer> best_importer(const ImportSource& source) {
  std::optional<Importer> best;
  int surest = 0;
  for (const Importer& importer : importers()) {
    const int sure = importer.sniff(source);
    if (sure <= surest) continue;
    surest = sure;
    best = importer;
  }
  return best;
}

Result<Trace> import_trace(const std::string& path, const ImportOptions& options) {
  const Result<ImportSource> source = open_source(path);
  if (!source) return source.error();
  std::error_code error;
  if (!source->is_directory && source->head.empty() && fs::file_size(path, error) > 0)
    return Error{.message = "begins like a compressed file, and nothing of it can be unpacked",
                 .file = path,
                 .remedy = "Copy or record it again."};
  if (!source->is_directory && source->head.empty())
    return Error{.message = "is empty", .file = path};
  const std::optional<Importer> importer = best_importer(*source);
  if (!importer)
    return Error{.message = "is no trace of a known format",
                 .file = path,
                 .remedy = "these are understood: " + known_formats()};
  return importer->read(*source, options);
}

}  // namespace stallscope
