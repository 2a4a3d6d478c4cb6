// Reads one process's segment file (see trace/segment_format.h) into a Trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/capture_windows.h"
#include "import/importer.h"
#include "trace/segment_format.h"
#include "trace/trace.h"

namespace stallscope {

/// A place in machine code, to be named by someone who can read symbols.
struct NativeAddress {
  std::string_view module_path;   ///< as the process saw it; empty when unknown
  std::string_view build_id;      ///< lower-case hexadecimal; empty when it has none
  uint64_t address = 0;           ///< as in the module's file (load bias subtracted)
  bool is_return_address = true;  ///< the call is before it: look up `address - 1`
};

/// Appends the frames at a place to `frames`, innermost (inlined) first.
using Symbolizer =
    std::function<void(Trace& trace, const NativeAddress& place, std::vector<Frame>& frames)>;

/// What a segment says about its process, besides its events.
struct SegmentContents {
  segment::FileHeader header{};
  uint32_t process = 0;  ///< index into Trace::processes
  std::string host;
  std::string command;                 ///< arguments joined by spaces, possibly cut
  std::vector<std::string> notes;      ///< sentences for the report
  std::vector<CaptureWindow> windows;  ///< with --capture cuda-profiler
  uint64_t events = 0;
  Ns realtime_offset = 0;  ///< CLOCK_REALTIME minus the trace's time, at the end of the recording
};

/// Reads the file at `path` and adds its process, tracks, events and health to
/// `into`; call Trace::finish() after the last one. A damaged file gives what
/// can be read, with the repairs counted in `into.health`; only a file that is
/// no segment at all is an error. Without a symbolizer a native frame is named
/// "module+0xaddress".
Result<SegmentContents> read_segment(const std::string& path, Trace& into,
                                     const ImportOptions& options = {},
                                     const Symbolizer& symbolizer = {});

}  // namespace stallscope
