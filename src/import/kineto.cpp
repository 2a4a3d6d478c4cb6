// Importer: Kineto and other Chrome traces (PyTorch profiler, XLA profiler).
#include <sys/stat.h>

#include "import/byte_stream.h"
#include "import/chrome_reader.h"
#include "import/importer.h"
#include "import/kineto_builder.h"

namespace stallscope {
namespace {

int sniff_kineto(const ImportSource& source) {
  if (source.is_directory) return 0;
  std::string_view head = source.head;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const size_t first = head.find_first_not_of(" \n\t\r");
  if (first == std::string_view::npos) return 0;
  head.remove_prefix(first);
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  if (head.front() == '{') {
    if (has("\"traceEvents\"")) return 95;
    // The outer members of a large job can fill more than the head.
    if (has("\"schemaVersion\"") && (has("\"deviceProperties\"") || has("\"distributedInfo\"")))
      return 90;
    return has("\"displayTimeUnit\"") ? 60 : 0;
  }
  if (head.front() == '[' && has("\"ph\"") && (has("\"ts\"") || has("\"pid\""))) return 90;
  return 0;
}

Error in_file(Error error, const std::string& path) {
  if (error.file.empty()) error.file = path;
  return error;
}

Result<Trace> read_kineto(const ImportSource& source, const ImportOptions& options) {
  struct stat status{};
  if (::stat(source.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{.message = "is not a regular file", .file = source.path};
  const auto file_bytes = static_cast<uint64_t>(status.st_size);
  Result<std::unique_ptr<ByteStream>> opened =
      open_stream(source.path, {.max_inflated_bytes = options.max_inflated_bytes});
  if (!opened) return opened.error();
  const std::unique_ptr<BlockStream> stream = read_ahead(std::move(*opened));

  Trace trace;
  trace.producer = "kineto";
  trace.health.bytes_on_disk = file_bytes;
  KinetoBuilder builder(trace);
  bool too_many = false;
  ChromeHandlers handlers;
  handlers.member = [&](std::string_view key, std::string_view json) { builder.member(key, json); };
  handlers.event = [&](const RawEvent& raw) {
    too_many = !builder.event(raw, options.max_events);
    return !too_many;
  };
  if (options.progress && file_bytes > 0)
    handlers.progress = [&] {
      options.progress(static_cast<double>(stream->consumed()) / static_cast<double>(file_bytes));
    };
  Result<ChromeResult> result = read_chrome_trace(*stream, handlers);
  if (!result) return in_file(result.error(), source.path);
  if (too_many)
    return Error{.message = "holds more than " + std::to_string(options.max_events) + " events",
                 .file = source.path,
                 .remedy = "profile fewer steps"};
  if (builder.events_seen() == 0)
    return Error{.message = "holds no trace events",
                 .file = source.path,
                 .remedy = "give a trace written by torch.profiler's export_chrome_trace"};
  for (const auto& [what, count] : result->repairs) builder.repairs()[what] += count;
  trace.health.cut_short = result->cut_short;
  // An array of events needs no bracket at its end.
  if (result->cut_short &&
      (!result->repairs.contains(kRepairNoEnd) || result->repairs.contains(kRepairGarbage)))
    trace.health.warnings.insert(trace.health.warnings.begin(),
                                 "The trace's file is cut, by a copy or a full disk: what was "
                                 "behind its last whole event is "
                                 "missing. Copy or record it again.");
  builder.finish(source.path);
  return trace;
}

const RegisterImporter kKinetoImporter(
    {.name = "kineto",
     .description = "PyTorch or XLA profiler JSON (Chrome trace), plain, "
                    "gzip or zstd",
     .sniff = sniff_kineto,
     .read = read_kineto});

}  // namespace
}  // namespace stallscope
