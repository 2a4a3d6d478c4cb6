// Importer "events": event lines, as `stallscope dump` prints and people write them.
#include "base/file.h"
#include "import/importer.h"
#include "trace/event_lines.h"

namespace stallscope {
namespace {

// The first line that is not a comment is an object that names a kind or a repeat.
int sniff_events(const ImportSource& source) {
  if (source.is_directory) return 0;
  std::string_view head = source.head;
  while (!head.empty()) {
    const size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line.remove_prefix(first);
    if (line[0] == '#' || line.starts_with("//")) continue;
    const bool whole_object = line[0] == '{' && line.find('}') != std::string_view::npos;
    const bool ours = line.find("\"kind\"") != std::string_view::npos ||
                      line.find("\"repeat\"") != std::string_view::npos ||
                      line.find("\"startNs\"") != std::string_view::npos;
    return whole_object && ours ? 80 : 0;
  }
  return 0;
}

Result<Trace> read_events(const ImportSource& source, const ImportOptions& options) {
  const Result<std::string> text = read_file(source.path, options.max_inflated_bytes);
  if (!text) return text.error();
  return read_event_lines(*text, {.file = source.path});
}

const RegisterImporter kEventsImporter(
    {.name = "events",
     .description = "event lines, as `stallscope dump` prints them",
     .sniff = sniff_events,
     .read = read_events});

}  // namespace
}  // namespace stallscope
