// Importers read files: a fuzzer's bytes are put into one.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "import/importer.h"

namespace stallscope::test {

/// A real file, in memory where the system allows it: SQLite opens no descriptor under /proc.
class FuzzFile {
 public:
  FuzzFile(const uint8_t* data, size_t size) {
    const char* folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = std::string(folder) + "/stallscope-fuzz-" + std::to_string(::getpid());
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  ~FuzzFile() { ::unlink(path_.c_str()); }
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// How many inputs gave a trace, told at the end: none would mean that nothing was tried.
struct Tally {
  uint64_t inputs = 0, traces = 0;
  ~Tally() {
    std::fprintf(stderr, "tally: %llu of %llu inputs gave a trace\n",
                 static_cast<unsigned long long>(traces), static_cast<unsigned long long>(inputs));
  }
};
inline Tally tally;

/// Reads the bytes with the importer of this name, whatever it says of them,
/// and touches what came out.
inline void read_with(std::string_view name, const uint8_t* data, size_t size) {
  ++tally.inputs;
  const FuzzFile file(data, size);
  ImportOptions options;
  options.max_inflated_bytes = 64 << 20;  // a fuzzer finds bombs quickly
  options.max_events = 1'000'000;
  for (const Importer& importer : importers()) {
    if (importer.name != name) continue;
    ImportSource source;
    source.path = file.path();
    source.head.assign(reinterpret_cast<const char*>(data), size < 65536 ? size : 65536);
    (void)importer.sniff(source);
    const Result<Trace> trace = importer.read(source, options);
    if (!trace) {
      if (trace.error().message.empty()) __builtin_trap();  // an error that says nothing
      return;
    }
    ++tally.traces;
    for (EventId id = 0; id < trace->size(); ++id) {
      (void)trace->full_name(id);
      if (trace->durations()[id] < 0) __builtin_trap();
      for (FrameId frame : trace->stack(trace->stacks()[id])) (void)trace->frame(frame);
      for (const Field& field : trace->payload(trace->payloads()[id])) (void)trace->text(field.key);
    }
  }
}

}  // namespace stallscope::test
