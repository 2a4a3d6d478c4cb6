// Importers read files: a fuzzer's bytes are put into one in memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "import/importer.h"

namespace stallscope::test {

class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(::memfd_create("fuzz", 0)) {
    size_t done = 0;
    while (done < size) {
      const ssize_t wrote = ::write(descriptor_, data + done, size - done);
      if (wrote <= 0) break;
      done += static_cast<size_t>(wrote);
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Reads the bytes with the importer of this name, whatever it says of them,
/// and touches what came out.
inline void read_with(std::string_view name, const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
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
    for (EventId id = 0; id < trace->size(); ++id) {
      (void)trace->full_name(id);
      if (trace->durations()[id] < 0) __builtin_trap();
      for (FrameId frame : trace->stack(trace->stacks()[id])) (void)trace->frame(frame);
      for (const Field& field : trace->payload(trace->payloads()[id])) (void)trace->text(field.key);
    }
  }
}

}  // namespace stallscope::test
