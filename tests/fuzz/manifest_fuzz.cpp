// Whatever bytes are given as a run.json: an error with its place, or a manifest
// that is written and read again as the same.
#include <string_view>

#include "trace/run_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stallscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<RunManifest> manifest = parse_manifest(text, "run.json");
  if (!manifest) {
    if (manifest.error().message.empty()) __builtin_trap();  // an error that says nothing
    return 0;
  }
  const std::string written = manifest_to_json(*manifest);
  const Result<RunManifest> again = parse_manifest(written, "run.json");
  if (!again || manifest_to_json(*again) != written) __builtin_trap();
  return 0;
}
