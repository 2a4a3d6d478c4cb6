#include "cli/snippets.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/lines.h"
#include "import/run_folder.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kContext = 4;                      // lines before and after a cited one
constexpr uint64_t kLargestSnippetFile = 4ULL << 20;  // nobody writes more by hand
constexpr size_t kMostFiles = 2000;

bool is_run_folder(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::path(path) / kManifestFile, error) ||
         fs::exists(fs::path(path).parent_path() / kManifestFile, error);
}

}  // namespace

void SourceStore::load(const std::string& path) {
  if (!is_run_folder(path)) return;
  if (const Result<RunManifest> manifest = manifest_of(path)) {
    if (!manifest->working_directory.empty()) folders_.push_back(manifest->working_directory);
    for (const auto& [file, lines] : manifest->lines)
      if (!lines.hash.empty()) loaded_[file] = lines.hash;
  }
  const Result<std::string> text = read_file(path + "/" + std::string(kSourcesFile));
  if (!text) return;
  take_json(*text);
}

void SourceStore::take_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("files") || !json["files"].is_object()) return;
  for (const auto& [name, entry] : json["files"].items()) {
    if (!entry.is_object() || !entry.contains("lines") || !entry["lines"].is_object()) continue;
    File file;
    file.hash = entry.contains("hash") && entry["hash"].is_string() ? entry["hash"] : "";
    for (const auto& [number, line] : entry["lines"].items()) {
      uint32_t value = 0;
      std::from_chars(number.data(), number.data() + number.size(), value);
      if (value > 0 && line.is_string()) file.lines[value] = line;
    }
    files_.emplace(name, std::move(file));
  }
}

void SourceStore::take(SourceStore&& other) {
  for (auto& [name, file] : other.files_) {
    const auto [it, added] = files_.try_emplace(name, file);
    // Two ranks cite different lines of one file.
    if (!added && it->second.hash == file.hash) it->second.lines.merge(file.lines);
  }
  contents_.merge(other.contents_);
  loaded_.merge(other.loaded_);
  for (std::string& folder : other.folders_)
    if (std::ranges::find(folders_, folder) == folders_.end())
      folders_.push_back(std::move(folder));
}

SourceStore::File* SourceStore::file_at(const std::string& path) {
  const auto known = files_.find(path);
  File* const kept = known == files_.end() ? nullptr : &known->second;
  const bool tried = contents_.contains(path) || absent_.contains(path);
  // "<string>" and "<frozen ...>" are Python's names for code that lies in no file.
  if (tried || path.empty() || path[0] == '<' || files_.size() > kMostFiles) return kept;
  std::vector<fs::path> candidates = {path};
  if (fs::path(path).is_relative())
    for (const std::string& folder : folders_) candidates.push_back(fs::path(folder) / path);
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (!fs::is_regular_file(candidate, error)) continue;
    const Result<std::string> text = read_file(candidate.string(), kLargestSnippetFile);
    if (!text) continue;
    const std::string hash = content_hash(*text);
    // Changed since it was recorded: its lines would be put beside the wrong code.
    const auto loaded = loaded_.find(candidate.lexically_normal().string());
    if (kept != nullptr && kept->hash != hash) break;
    if (loaded != loaded_.end() && loaded->second != hash) break;
    contents_[path] = split_lines(*text);
    File& file = files_[path];
    file.hash = hash;
    return &file;
  }
  absent_.insert(path);
  return kept;
}

void SourceStore::cite(const Place& place) {
  if (place.line == 0) return;
  File* file = file_at(place.file);
  const auto content = contents_.find(place.file);
  if (file == nullptr || content == contents_.end()) return;
  const auto count = static_cast<uint32_t>(content->second.size());
  const uint32_t first = place.line > kContext ? place.line - kContext : 1;
  for (uint32_t line = first; line <= std::min(count, place.line + kContext); ++line)
    if (file->lines.emplace(line, content->second[line - 1]).second) changed_ = true;
}

void SourceStore::cite(const RankSummary& rank) {
  for (const Observation& observation : rank.observations) {
    cite(observation.place);
    for (const Place& place : observation.stack) cite(place);
  }
}

std::string SourceStore::to_json() const {
  nlohmann::ordered_json files = nlohmann::ordered_json::object();
  for (const auto& [name, file] : files_) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::object();
    for (const auto& [number, text] : file.lines) lines[std::to_string(number)] = text;
    files[name] = {{"hash", file.hash}, {"lines", std::move(lines)}};
  }
  const nlohmann::ordered_json json = {{"schemaVersion", "1.0"}, {"files", std::move(files)}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void SourceStore::save(const std::string& path) {
  if (!changed_ || !is_run_folder(path)) return;
  // A run folder that cannot be written is read all the same.
  (void)write_file(path + "/" + std::string(kSourcesFile), to_json());
  changed_ = false;
}

const std::vector<std::string>& SourceStore::lines_here(const std::string& path) {
  const auto [it, added] = here_.try_emplace(path);
  if (added)
    if (const Result<std::string> text = read_file(path, kLargestSnippetFile))
      it->second = split_lines(*text);
  return it->second;
}

void SourceStore::add_snippet(Finding& finding, const FileJoin& files) {
  if (finding.locations.empty() || !finding.snippet.lines.empty()) return;
  const Place& place = finding.locations.front();
  if (place.line == 0) return;
  const auto add = [&](uint32_t first, uint32_t last, const auto& text_of) {
    finding.snippet.first_line = first;
    for (uint32_t line = first; line <= last; ++line)
      finding.snippet.lines.push_back(text_of(line));
  };
  const auto add_from = [&](const std::vector<std::string>& lines) {
    if (place.line > lines.size()) return;
    const auto count = static_cast<uint32_t>(lines.size());
    add(place.line > kContext ? place.line - kContext : 1, std::min(count, place.line + kContext),
        [&](uint32_t line) { return lines[line - 1]; });
  };
  // Only what static analysis found has a certainty.
  if (!finding.confidence.empty()) return add_from(lines_here(place.file));
  cite(place);
  const auto file = files_.find(place.file);
  if (file == files_.end() || !file->second.lines.contains(place.line)) {
    // Where the text here has another function at that line, it is not the text that ran.
    const auto here = files.source_file(place.file);
    const bool other = here && place.language == "python" &&
                       files.function_at(*here, place.function, place.line) == nullptr;
    if (here && !other) add_from(lines_here(*here));
    return;
  }
  uint32_t first = place.line, last = place.line;
  const std::map<uint32_t, std::string>& lines = file->second.lines;
  while (first > 1 && place.line - first < kContext && lines.contains(first - 1)) --first;
  while (last - place.line < kContext && lines.contains(last + 1)) ++last;
  add(first, last, [&](uint32_t line) { return lines.at(line); });
}

std::map<std::string, std::string> SourceStore::hashes() const {
  std::map<std::string, std::string> hashes;
  for (const auto& [name, file] : files_)
    if (!file.hash.empty()) hashes[name] = file.hash;
  return hashes;
}

}  // namespace stallscope
