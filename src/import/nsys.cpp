// Importer: SQLite exports of Nsight Systems.
#include <sys/stat.h>

#include "import/importer.h"
#include "import/nsys_builder.h"
#include "import/sqlite_reader.h"

namespace stallscope {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

int sniff_nsys(const ImportSource& source) {
  if (source.is_directory || !source.head.starts_with(kMagic)) return 0;
  const auto has = [&](std::string_view name) {
    return source.head.find(name) != std::string::npos;
  };
  return has("CUPTI_ACTIVITY_KIND") || has("NVTX_EVENTS") || has("StringIds") ? 90 : 40;
}

}  // namespace

Result<Trace> read_nsys_sqlite(const std::string& path, const ImportOptions& options) {
  Result<SqliteReader> database = SqliteReader::open(path);
  if (!database) return database.error();
  constexpr std::string_view kAnyOf[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                         "CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                         "NVTX_EVENTS",
                                         "OSRT_API",
                                         "MPI_COLLECTIVES_EVENTS"};
  bool known = false;
  for (std::string_view table : kAnyOf) known = known || database->has(table);
  if (!known)
    return Error{.message = "is an SQLite file without any table of an nsys export",
                 .file = path,
                 .remedy = "export the report with: nsys export --type sqlite REPORT.nsys-rep"};
  Trace trace;
  trace.producer = "nsys";
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0)
    trace.health.bytes_on_disk = static_cast<uint64_t>(status.st_size);
  if (Status read = NsysBuilder(*database, trace, options.max_events).read(); !read) {
    Error error = read.error();
    error.file = path;
    return error;
  }
  if (options.progress) options.progress(1);
  return trace;
}

namespace {

Result<Trace> read_nsys(const ImportSource& source, const ImportOptions& options) {
  return read_nsys_sqlite(source.path, options);
}

const RegisterImporter kNsysImporter({.name = "nsys",
                                      .description = "SQLite export of an Nsight Systems report",
                                      .sniff = sniff_nsys,
                                      .read = read_nsys});

}  // namespace
}  // namespace stallscope
