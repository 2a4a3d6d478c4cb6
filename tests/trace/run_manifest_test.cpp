#include "trace/run_manifest.h"

#include <doctest/doctest.h>

#include <string>

using namespace stallscope;

namespace {

RunManifest example() {
  RunManifest manifest;
  manifest.id = "20261121-023500-0a1b2c";
  manifest.complete = true;
  manifest.command = {"./train", "--note=\"a\\b\"\n"};
  manifest.started_at = "2026-11-21T02:35:00Z";
  manifest.duration = 1'500'000'000;
  manifest.signal = 9;
  manifest.interrupted = true;
  manifest.identity = {1, 1, 2, "torchrun", "job-7"};
  manifest.overhead = PairedOverhead{0.004, -0.001, 0.009, 5};
  manifest.environment["cpu.model"] = "Example CPU";
  manifest.warnings = {"something is odd (look at it)"};
  manifest.lines["/job/train.py"] = {
      .watched = "1-9", .hit = "1,3", .compiled = "11-12", .hash = "00ff"};
  manifest.silent_processes = 2;
  return manifest;
}

}  // namespace

TEST_CASE("run.json survives writing and reading") {
  const RunManifest before = example();
  const Result<RunManifest> after = parse_manifest(manifest_to_json(before), "run.json");
  REQUIRE(after.ok());
  CHECK(after->command == before.command);
  CHECK(after->duration == before.duration);
  CHECK(after->exit_code == std::nullopt);
  CHECK(after->signal == 9);
  CHECK(after->shell_exit_code() == 137);
  CHECK(after->identity.world_size == 2);
  CHECK(after->identity.launcher == "torchrun");
  CHECK(after->overhead->high == doctest::Approx(0.009));
  CHECK(after->environment == before.environment);
  CHECK(after->warnings == before.warnings);
  CHECK(after->lines.at("/job/train.py").compiled == "11-12");
  CHECK(after->lines.at("/job/train.py").hash == "00ff");
  CHECK(after->silent_processes == 2);
  CHECK(manifest_to_json(*after) == manifest_to_json(before));
}

TEST_CASE("bytes that are no UTF-8 are replaced, not refused") {
  RunManifest manifest = example();
  manifest.command = {"./train", "\xff\xfe"};
  CHECK(parse_manifest(manifest_to_json(manifest), "run.json").ok());
}

TEST_CASE("a damaged run.json is an error with its position") {
  const std::string good = manifest_to_json(example());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  struct Case {
    std::string text;
    uint64_t line;
    const char* says;
  };
  const Case cases[] = {
      {"", 1, "not valid JSON"},
      {"[]", 1, "object"},
      {good.substr(0, good.size() / 2), 0, "not valid JSON"},
      {with("\"1.0\"", "\"2.0\""), 2, "schemaVersion"},
      {with("\"complete\"", "\"done\""), 4, "state"},
      {with("\"signal\": 9", "\"signal\": \"nine\""), 0, "signal"},
      {with("\"signal\": 9", "\"signal\": 900"), 0, "signal"},
      {with("\"durationNs\": 1500000000", "\"durationNs\": 99999999999999999999"), 0, "durationNs"},
      {with("\"durationNs\": 1500000000", "\"durationNs\": 1e999"), 11,
       "beyond what can be stored"},
      {with("\"durationNs\": 1500000000", "\"durationNs\": -4"), 0, "durationNs"},
      {with("\"rank\": 1", "\"rank\": \"one\""), 0, "rank"},
      {with("\"Example CPU\"", "7"), 0, "environment"},
      {with("\"interrupted\": true", "\"interrupted\": 1"), 0, "interrupted"},
      {with("\"00ff\"", "7"), 0, "lines"},
      {with("\"silentProcesses\": 2", "\"silentProcesses\": -2"), 0, "silentProcesses"},
  };
  for (const Case& c : cases) {
    const Result<RunManifest> result = parse_manifest(c.text, "run.json");
    REQUIRE_MESSAGE(!result.ok(), c.says);
    CHECK_MESSAGE(result.error().message.find(c.says) != std::string::npos,
                  result.error().to_string());
    CHECK(result.error().line >= 1);
    if (c.line != 0) CHECK_MESSAGE(result.error().line == c.line, result.error().to_string());
  }
}
