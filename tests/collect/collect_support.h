// Runs a target with the injected library and reads what it recorded.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "import/segment_reader.h"
#include "trace/trace.h"

namespace stallscope::test {

/// A folder that is deleted at the end of the test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using Variables = std::map<std::string, std::string>;

struct Finished {
  int exit_code = -1;  ///< -1 when killed
  int signal = 0;
  std::string output;
};

/// Runs PROGRAM ARGS with the library recording into `folder` (no library when empty).
Finished run_target(const std::vector<std::string>& command, const std::string& folder,
                    const Variables& variables = {});

/// The same without waiting; the process id.
int start_target(const std::vector<std::string>& command, const std::string& folder,
                 const Variables& variables, int output);

std::string nvtx_target();

/// All segments of a folder as one finished trace.
struct Recorded {
  Trace trace;
  std::vector<SegmentContents> segments;
  size_t chunk_bytes =
      0;  ///< of chunks in use: on a busy machine files have unused ones between them
};
Recorded read_folder(const std::string& folder);

/// Events of a kind with a full name.
std::vector<EventId> events_named(const Trace& trace, EventKind kind, std::string_view name);
size_t count_named(const Trace& trace, std::string_view name);
/// The one event of that name; fails the test unless there is exactly one.
EventId only(const Trace& trace, EventKind kind, std::string_view name);

}  // namespace stallscope::test
