// Reading a segment from any source of bytes: what read_segment() does for a
// file, for the fuzzer and tests.
#pragma once

#include "import/segment_reader.h"
#include "import/segment_source.h"

namespace stallscope {

Result<SegmentContents> read_segment_source(const SegmentSource& source, const std::string& path,
                                            Trace& into, const ImportOptions& options,
                                            const Symbolizer& symbolizer);

}  // namespace stallscope
