#include "cli/source_analysis.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/install_tree.h"
#include "source/link/frameworks.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// Once a day, takes out facts stored more than a month ago: files change, their old facts stay.
void prune(const fs::path& folder) {
  using std::chrono::hours;
  std::error_code ec;
  const auto now = fs::file_time_type::clock::now();
  const fs::path stamp = folder / ".pruned";
  const auto last = fs::last_write_time(stamp, ec);
  if (!ec && now - last < hours(24)) return;
  if (!write_file(stamp.string(), "")) return;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code gone;
    const auto written = it->last_write_time(gone);
    const bool ours = !it->path().filename().string().starts_with('.');
    if (!gone && ours && now - written > hours(30 * 24)) fs::remove(it->path(), gone);
  }
}

/// A folder for cached facts, hidden from git; empty when there is none or it cannot be made.
std::string cache_folder(const std::string& root, SourceCache cache) {
  if (cache == SourceCache::none) return {};
  std::error_code ec;
  const fs::path folder = fs::path(root) / ".stallscope-cache";
  if (!fs::is_directory(folder, ec)) {
    if (cache == SourceCache::existing) return {};
    if (!fs::create_directory(folder, ec)) return {};
    if (!write_file((folder / ".gitignore").string(), "*\n")) return {};
  }
  prune(folder);
  return folder.string();
}

/// A path as the facts of the project at `root` name it.
std::string in_project(const std::string& path, const std::string& root) {
  std::error_code ec;
  return fs::proximate(fs::weakly_canonical(fs::absolute(path), ec), root).generic_string();
}

}  // namespace

Result<RuleSet> compile_source_rules(std::span<const Rule> rules) {
  std::vector<SourceRule> out;
  for (const Rule& rule : rules) {
    SourceRule& to = out.emplace_back();
    to.id = rule.id;
    to.condition = rule.source;
    to.once_per_function = rule.once_per_function;
    to.host_block = rule.gain == GainModel::remove_sync || rule.gain == GainModel::batch_calls;
    for (Language language : rule.languages) to.languages.emplace_back(to_string(language));
  }
  return RuleSet::compile(out);
}

Result<IndexOptions> index_options() {
  IndexOptions out;
  const auto path = data_path("rules/frameworks.yaml");
  if (!path) return path.error();
  auto entry_points = load_entry_points(*path);
  if (!entry_points) return entry_points.error();
  out.entry_points = std::move(*entry_points);
  return out;
}

ClangOptions clang_options(const std::string& root, const std::string& libclang) {
  ClangOptions out;
  // Without its stubs an installation has no types either.
  const auto stubs = data_path("rules/stubs");
  out.on = libclang != "off" && stubs;
  if (stubs) out.stubs = *stubs;
  if (libclang != "auto") out.library = libclang;
  out.root = root;
  return out;
}

std::string folder_above(const std::string& file) {
  std::error_code ec;
  fs::path at = fs::absolute(file, ec).lexically_normal().parent_path();
  while (at.has_relative_path() && !fs::is_directory(at, ec)) at = at.parent_path();
  return at.string();
}

Result<SourceAnalysis> analyze_source(const std::vector<std::string>& paths,
                                      std::span<const Rule> rules,
                                      const SourceAnalysisOptions& options) {
  SourceAnalysis out;
  auto compiled = compile_source_rules(rules);
  if (!compiled) return compiled.error();
  auto project = find_project(paths, options.project);
  if (!project) return project.error();
  out.project = std::move(project.value());
  if (!options.given.empty()) out.project.chosen.clear();
  for (const auto& [path, given] : options.given) {
    const std::string relative = in_project(path, out.project.root);
    if (is_excluded(options.project, relative, false)) continue;
    const auto known =
        std::erase_if(out.project.inputs, [&](const SourceInput& i) { return i.path == relative; });
    if (known == 0 && !given.chosen) continue;
    auto at = std::ranges::lower_bound(out.project.inputs, relative, {}, &SourceInput::path);
    out.project.inputs.insert(at, {relative, {}, given.text});
    if (given.chosen) out.project.chosen.push_back(relative);
  }
  std::ranges::sort(out.project.chosen);
  auto made = index_options();
  if (!made) return made.error();
  IndexOptions index = std::move(*made);
  index.file.max_bytes = options.max_file_bytes;
  // Runs are joined with what is kept; a check without a cache asks for no file's hash.
  index.file.hashes = options.cache != SourceCache::none;
  index.file.times = options.times;
  index.cache_folder = cache_folder(
      options.cache_root.empty() ? out.project.root : options.cache_root, options.cache);
  index.clang = clang_options(out.project.root, options.libclang);
  // Types are of C++ alone: where none of it was asked for, nothing in the answer rests on them.
  index.clang.on &= std::ranges::any_of(out.project.chosen, is_compiled_path);
  index.clang.within = options.types_within;
  index.clang.when_late = options.when_late;
  index.clang.progress = options.types_progress;
  if (options.types_of_chosen)
    index.typed.only.emplace(out.project.chosen.begin(), out.project.chosen.end());
  for (const std::string& path : options.observed)
    index.typed.always.insert(in_project(path, out.project.root));
  out.index = SourceIndex::build(out.project.inputs, compiled.value(), index);
  out.facts = out.index.facts();
  std::erase_if(out.facts, [&](const SourceFact& fact) {
    return !std::ranges::binary_search(out.project.chosen, fact.file);
  });
  return out;
}

}  // namespace stallscope
