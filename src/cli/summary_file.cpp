#include "cli/summary_file.h"

#include <filesystem>

#include "analyze/summary_json.h"
#include "base/file.h"
#include "import/byte_stream.h"
#include "import/summary_head.h"
#include "report/json_parts.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;

/// First line: what the ranks share. Then one line per rank.
std::string text_of(const RankInput& input, const RankSummary& rank) {
  Json head;
  head["stallscopeSummaries"] = kVersion;  // first: readers know the file by it
  head["warnings"] = input.warnings;
  head["environment"] = input.environment;
  if (input.manifest) head["run"] = Json::parse(manifest_to_json(*input.manifest), nullptr, false);
  head["sources"] = Json::parse(input.sources.to_json(), nullptr, false);
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + to_summary_json(rank) +
         "\n";
}

// The first of several names that none of this run's files has yet.
std::string name_of(const RankSummary& rank, const std::set<std::string>& taken) {
  const std::string stem =
      rank.rank >= 0 ? "rank-" + std::to_string(rank.rank) : "process-" + std::to_string(rank.pid);
  std::string name = stem + ".summary";
  if (taken.contains(name)) name = stem + "-device-" + std::to_string(rank.device) + ".summary";
  for (size_t i = 2; taken.contains(name); ++i) name = stem + "-" + std::to_string(i) + ".summary";
  return name;
}

Status read_head_line(std::string_view line, const std::string& path, RankInput& input) {
  const Json head = Json::parse(line, nullptr, false);
  if (!head.is_object() || head.value("stallscopeSummaries", 0) != kVersion)
    return Error{.message = "is a summary of another version of stallscope",
                 .file = path,
                 .remedy = "write it again with 'stallscope report --summary-only'"};
  input.warnings = head.at("warnings").get<std::vector<std::string>>();
  input.environment = head.at("environment").get<std::map<std::string, std::string>>();
  if (head.contains("run")) {
    Result<RunManifest> manifest = parse_manifest(head["run"].dump(), path);
    if (!manifest) return manifest.error();
    input.manifest = std::move(*manifest);
  }
  input.sources.take_json(head.at("sources").dump());
  return ok_status();
}

}  // namespace

Status write_summaries(const RankInput& input, const std::string& folder,
                       std::set<std::string>& names) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{.message = "cannot create: " + error.message(), .file = folder};
  for (const RankSummary& rank : input.ranks) {
    const std::string name = name_of(rank, names);
    const std::string path = (fs::path(folder) / name).string();
    if (fs::exists(path, error)) {
      const Result<std::string> old = read_head(path, kSummaryHead.size());
      if (!old || *old != kSummaryHead)
        return Error{.message = "exists and is no summary of stallscope",
                     .file = path,
                     .remedy = "choose another folder with -o"};
    }
    if (Status written = write_file(path, text_of(input, rank)); !written) return written;
    names.insert(name);
  }
  return ok_status();
}

Result<RankInput> read_summary_file(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  RankInput input;
  std::string_view rest = *text;
  bool first = true;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (first) {
      try {
        if (const Status head = read_head_line(line, path, input); !head) return head.error();
      } catch (const nlohmann::json::exception& wrong) {
        return Error{.message = std::string("damaged summary: ") + wrong.what(), .file = path};
      }
      first = false;
      continue;
    }
    Result<RankSummary> rank = from_summary_json(line, path);
    if (!rank) return rank.error();
    input.ranks.push_back(std::move(*rank));
  }
  if (input.ranks.empty())
    return Error{.message = "the summary is cut short: it names no rank", .file = path};
  return input;
}

}  // namespace stallscope
