// What the importers' tests share: reading a file or a text through the
// importer that is sure of it, and the totals of device time.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_stream.h"
#include "import/importer.h"

namespace stallscope::test {

/// A file under the build tree that lives as long as the object.
class TempFile {
 public:
  TempFile(std::string_view name, std::string_view content)
      : path_(std::string(STALLSCOPE_BINARY_DIR) + "/import-test-" + std::to_string(::getpid()) +
              "-" + std::string(name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Result<Trace> import_with(std::string_view importer_name, const std::string& path,
                                 const ImportOptions& options = {}) {
  ImportSource source;
  source.path = path;
  Result<std::string> head = read_head(path, 64 * 1024);
  if (!head) return head.error();
  source.head = *head;
  for (const Importer& importer : importers()) {
    if (importer.name != importer_name) continue;
    if (importer.sniff(source) == 0)
      return Error{.message = "not recognised by " + std::string(importer_name), .file = path};
    return importer.read(source, options);
  }
  return Error{.message = "no such importer: " + std::string(importer_name), .file = path};
}

inline Result<Trace> import_text(std::string_view importer_name, std::string_view text) {
  const TempFile file("trace", text);
  return import_with(importer_name, file.path());
}

/// The folder of real traces: STALLSCOPE_TRACES, or beside the project; empty, said loudly, when
/// absent.
inline std::string shared_traces() {
  const char* named = std::getenv("STALLSCOPE_TRACES");
  const std::string folder = named ? named : STALLSCOPE_SOURCE_DIR "/../shared/data/traces";
  if (std::filesystem::is_directory(folder)) return folder;
  std::fprintf(stderr, "SKIPPED: the shared traces are not at %s\n", folder.c_str());
  return {};
}

/// Unions of the intervals of device work, in nanoseconds.
struct DeviceTime {
  Ns window = 0, busy = 0, compute = 0, communication = 0, exposed_communication = 0;
  uint64_t kernels = 0, collectives = 0;
};

using Intervals = std::vector<std::pair<Ns, Ns>>;

inline Ns union_length(Intervals intervals) {
  std::ranges::sort(intervals);
  Ns total = 0, reached = INT64_MIN;
  for (const auto& [start, end] : intervals) {
    total += std::max<Ns>(0, end - std::max(start, reached));
    reached = std::max(reached, end);
  }
  return total;
}

inline DeviceTime device_time(const Trace& trace) {
  Intervals all, compute, communication;
  DeviceTime time;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!is_device_work(trace.kinds()[id])) continue;
    const std::pair interval(trace.starts()[id], trace.end(id));
    all.push_back(interval);
    if (trace.kinds()[id] != EventKind::kernel) continue;
    const bool collective = is_collective_kernel(trace.name(id));
    ++time.kernels;
    time.collectives += collective ? 1 : 0;
    (collective ? communication : compute).push_back(interval);
  }
  if (all.empty()) return time;
  Ns first = INT64_MAX, last = INT64_MIN;
  for (const auto& [start, end] : all) {
    first = std::min(first, start);
    last = std::max(last, end);
  }
  time.window = last - first;
  time.busy = union_length(all);
  time.compute = union_length(compute);
  time.communication = union_length(communication);
  Intervals both = compute;
  both.insert(both.end(), communication.begin(), communication.end());
  time.exposed_communication = union_length(both) - time.compute;
  return time;
}

}  // namespace stallscope::test
