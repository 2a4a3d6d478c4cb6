#include "trace/run_manifest.h"

#include <algorithm>
#include <limits>

#include "base/file.h"
#include "trace/json_object.h"

namespace stallscope {
namespace {

constexpr const char* kSchemaVersion = "1.0";
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

template <typename T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json identity_to_json(const RankIdentity& identity) {
  nlohmann::ordered_json json;
  json["rank"] = identity.rank;
  json["localRank"] = identity.local_rank;
  json["worldSize"] = identity.world_size;
  json["launcher"] = identity.launcher;
  json["job"] = identity.job;
  return json;
}

void read_identity(ObjectReader reader, RankIdentity& identity, ObjectReader& parent) {
  reader.integer("rank", identity.rank, -1, kMaxInt32);
  reader.integer("localRank", identity.local_rank, -1, kMaxInt32);
  reader.integer("worldSize", identity.world_size, 0, kMaxInt32);
  reader.text("launcher", identity.launcher, false);
  reader.text("job", identity.job, false);
  if (reader.failed()) parent.adopt(reader.error());
}

void read_overhead(ObjectReader reader, std::optional<PairedOverhead>& out, ObjectReader& parent) {
  PairedOverhead overhead;
  reader.number("difference", overhead.difference);
  reader.number("low", overhead.low);
  reader.number("high", overhead.high);
  reader.integer("pairs", overhead.pairs, 0, kMaxInt32);
  if (reader.failed()) parent.adopt(reader.error());
  out = overhead;
}

template <typename T>
void read_optional(ObjectReader& reader, const char* key, std::optional<T>& out, int64_t low,
                   int64_t high) {
  int64_t value = low - 1;
  reader.integer(key, value, low, high);
  if (value >= low) out = static_cast<T>(value);
}

}  // namespace

std::optional<int> RunManifest::shell_exit_code() const {
  if (signal) return 128 + *signal;
  return exit_code;
}

bool counts_recording(std::string_view fact) {
  constexpr std::string_view kCounts[] = {
      "annotate.calls",      "annotate.own_us",       "node.sampler_cpu_ms", "python.samples",
      "python.native_looks", "python.sampler_cpu_ms", "recorded.bytes",      "recorded.processes"};
  return std::ranges::find(kCounts, fact) != std::end(kCounts);
}

std::string manifest_to_json(const RunManifest& manifest) {
  nlohmann::ordered_json json;
  json["schemaVersion"] = kSchemaVersion;
  json["id"] = manifest.id;
  json["state"] = manifest.complete ? "complete" : "recording";
  json["command"] = manifest.command;
  json["workingDirectory"] = manifest.working_directory;
  json["startedAt"] = manifest.started_at;
  json["durationNs"] = or_null(manifest.duration);
  json["exitCode"] = or_null(manifest.exit_code);
  json["signal"] = or_null(manifest.signal);
  json["interrupted"] = manifest.interrupted;
  json["recordingFolder"] = manifest.recording_folder;
  json["identity"] = identity_to_json(manifest.identity);
  json["sampleRateHz"] = manifest.sample_rate_hz;
  json["overhead"] = nullptr;
  if (manifest.overhead)
    json["overhead"] = {{"difference", manifest.overhead->difference},
                        {"low", manifest.overhead->low},
                        {"high", manifest.overhead->high},
                        {"pairs", manifest.overhead->pairs}};
  json["environment"] = manifest.environment;
  json["warnings"] = manifest.warnings;
  for (const auto& [file, lines] : manifest.lines) {
    nlohmann::ordered_json& of_file = json["lines"][file];
    of_file = {{"watched", lines.watched}, {"hit", lines.hit}};
    if (!lines.compiled.empty()) of_file["compiled"] = lines.compiled;
    if (!lines.hash.empty()) of_file["hash"] = lines.hash;
  }
  if (manifest.silent_processes > 0) json["silentProcesses"] = manifest.silent_processes;
  // Arguments and paths are bytes, not always UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<RunManifest> parse_manifest(std::string_view text, const std::string& file) {
  const Result<nlohmann::json> json = parse_json_object(text, file);
  if (!json) return json.error();
  ObjectReader reader(*json, text, file);
  RunManifest manifest;
  std::string version, state;
  reader.text("schemaVersion", version);
  if (!reader.failed() && !version.starts_with("1."))
    reader.fail("schemaVersion", "1.x, the version that this tool reads,");
  reader.text("id", manifest.id);
  reader.text("state", state);
  if (state != "recording" && state != "complete")
    reader.fail("state", "\"recording\" or \"complete\"");
  manifest.complete = state == "complete";
  reader.texts("command", manifest.command);
  reader.text("workingDirectory", manifest.working_directory, false);
  reader.text("startedAt", manifest.started_at);
  read_optional(reader, "durationNs", manifest.duration, 0, kMaxInt64);
  read_optional(reader, "exitCode", manifest.exit_code, 0, 255);
  read_optional(reader, "signal", manifest.signal, 1, 127);
  reader.boolean("interrupted", manifest.interrupted);
  reader.text("recordingFolder", manifest.recording_folder, false);
  reader.integer("sampleRateHz", manifest.sample_rate_hz, 0, 1'000'000);
  reader.texts("warnings", manifest.warnings);
  if (const nlohmann::json* identity = reader.object("identity"))
    read_identity(ObjectReader(*identity, text, file), manifest.identity, reader);
  if (const nlohmann::json* overhead = reader.object("overhead"))
    read_overhead(ObjectReader(*overhead, text, file), manifest.overhead, reader);
  if (const nlohmann::json* environment = reader.object("environment"))
    for (const auto& [key, value] : environment->items()) {
      if (!value.is_string())
        reader.fail("environment", "an object of texts");
      else
        manifest.environment[key] = value.get<std::string>();
    }
  if (const nlohmann::json* lines = reader.object("lines"))
    for (const auto& [path, value] : lines->items()) {
      ObjectReader of_file(value, text, file);
      of_file.text("watched", manifest.lines[path].watched);
      of_file.text("hit", manifest.lines[path].hit);
      of_file.text("compiled", manifest.lines[path].compiled, false);
      of_file.text("hash", manifest.lines[path].hash, false);
      if (of_file.failed()) reader.fail("lines", "an object of watched and hit lines by file");
    }
  reader.integer("silentProcesses", manifest.silent_processes, 0, kMaxInt32);
  if (reader.failed()) return reader.error();
  return manifest;
}

Result<RunManifest> read_manifest(const std::string& folder) {
  constexpr uint64_t kLimit = 16ULL << 20;  // a run.json has a few kilobytes
  const std::string path = folder + "/" + std::string(kManifestFile);
  const Result<std::string> text = read_file(path, kLimit);
  if (!text) return text.error();
  return parse_manifest(*text, path);
}

}  // namespace stallscope
