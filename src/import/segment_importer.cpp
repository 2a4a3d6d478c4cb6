// A single segment file as a trace of its own: what a crashed machine may have
// left of a run.
#include <cstring>

#include "import/importer.h"
#include "import/segment_reader.h"
#include "import/symbolize.h"

namespace stallscope {
namespace {

int sniff_segment(const ImportSource& source) {
  uint64_t magic = 0;
  if (source.is_directory || source.head.size() < sizeof magic) return 0;
  std::memcpy(&magic, source.head.data(), sizeof magic);
  return magic == segment::kMagic ? 100 : 0;
}

Result<Trace> read_one_segment(const ImportSource& source, const ImportOptions& options) {
  Trace trace;
  trace.producer = "recorded";
  RunSymbols symbols;
  const Result<SegmentContents> contents =
      read_segment(source.path, trace, options, symbols.symbolizer());
  if (!contents) return contents.error();
  trace.finish();
  return trace;
}

const RegisterImporter kSegmentImporter(Importer{
    .name = "segment",
    .description = "one process's segment file of a recording (.ssg)",
    .sniff = sniff_segment,
    .read = read_one_segment,
});

}  // namespace
}  // namespace stallscope
