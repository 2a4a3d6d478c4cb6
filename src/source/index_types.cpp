// The second layer of C++ and CUDA files: where a rule may speak, libclang's
// types are asked, and the file is read again with them.
#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "source/extract/emptied_bodies.h"
#include "source/index.h"
#include "source/match/macro_calls.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// The text that was read at first; of a file that changed since, what it is now.
std::string bytes_of(const SourceInput& input) {
  if (input.on_disk.empty()) return input.bytes;
  auto read = read_file(input.on_disk);
  return read ? std::move(*read) : std::string();
}

std::string absolute(const SourceInput& input, const std::string& root) {
  std::error_code ec;
  const fs::path path =
      input.on_disk.empty() ? fs::path(root) / input.path : fs::path(input.on_disk);
  return fs::absolute(path, ec).lexically_normal().string();
}

std::string_view slice_of(std::string_view text, const Node& node) {
  return text.substr(node.first_byte, node.last_byte - node.first_byte);
}

}  // namespace

/// Whether a candidate of the file stands where its rule speaks, and rests on types.
bool SourceIndex::needs_types(size_t file) const {
  return std::ranges::any_of(files_[file]->candidates, [&](const Candidate& candidate) {
    const CompiledClause& clause = rules_->clauses()[candidate.clause];
    SourceFact fact;
    return rests_on_types(clause) && context_allows(file, candidate, clause, fact);
  });
}

/// Whether a function only builds what a program needs, and no rule asks for anything in it.
bool SourceIndex::only_builds(size_t file, const Node& function) const {
  const FileFacts& facts = *files_[file];
  const auto within = [&](uint32_t line) {
    return line >= function.first_line && line <= function.last_line;
  };
  const auto found = std::ranges::find_if(facts.functions, [&](const FunctionFacts& f) {
    return f.first_line == function.first_line && f.last_line == function.last_line;
  });
  if (found == facts.functions.end() ||
      std::ranges::any_of(facts.candidates,
                          [&](const Candidate& c) { return within(c.first_line); }) ||
      std::ranges::any_of(facts.loops, [&](const LoopFacts& l) { return within(l.first_line); }))
    return false;
  const auto index = static_cast<uint32_t>(found - facts.functions.begin());
  const uint16_t bits = contexts_->at(graph_->id_of(file, index), kNone);
  return bits != 0 && (bits & ~(kInInit | kOutside | kEvalLoop)) == 0;
}

void SourceIndex::add_types(const std::vector<SourceInput>& inputs, const IndexOptions& options,
                            std::optional<ClangWorkers> workers) {
  std::vector<std::string> macros;
  for (const auto& file : files_)
    macros.insert(macros.end(), file->hiding_macros.begin(), file->hiding_macros.end());
  std::ranges::sort(macros);
  macros.erase(std::ranges::unique(macros).begin(), macros.end());
  std::vector<size_t> wanted;
  std::vector<ClangFile> texts;
  std::vector<std::string> read;  ///< the same, whole
  for (size_t f = 0; f < files_.size(); ++f) {
    const FileFacts& facts = *files_[f];
    if (facts.skipped || !facts.is_compiled()) continue;
    if (options.typed.only && !options.typed.only->contains(facts.path)) continue;
    const bool needed = options.typed.always.contains(facts.path) || needs_types(f);
    if (!needed && macros.empty()) continue;
    std::string text = counted_text(bytes_of(inputs[f]));
    if (!needed && !uses_any(text, macros)) continue;
    wanted.push_back(f);
    // With the templates of LibTorch's modules and layers, they take a fourth of libclang's time.
    const auto is_left_out = [&](const Node& function) {
      return only_builds(f, function) && !uses_any(slice_of(text, function), macros);
    };
    texts.push_back(
        {absolute(inputs[f], options.clang.root), with_emptied_bodies(text, is_left_out)});
    read.push_back(std::move(text));
  }
  if (wanted.empty()) return;
  ClangLayer layer;
  if (!options.typed.known) {
    ClangOptions clang = options.clang;
    clang.cache_folder = options.cache_folder;
    layer = read_clang_types(texts, clang, std::move(workers));
    if (!layer.note.empty()) notes_.push_back(layer.note);
  }
  const auto types_of = [&](size_t i) -> const ClangTypes* {
    if (!options.typed.known) return layer.types[i].get();
    const auto known = options.typed.known->find(inputs[wanted[i]].path);
    return known == options.typed.known->end() ? nullptr : known->second;
  };
  bool any = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ClangTypes* const types = types_of(i);
    if (types == nullptr) continue;
    read_again(wanted[i], inputs[wanted[i]].path, read[i], *types, options);
    any = true;
  }
  if (any) link(options);
}

void SourceIndex::read_again(size_t file, const std::string& path, std::string_view text,
                             const ClangTypes& types, const IndexOptions& options) {
  FileFacts& facts = *files_[file];
  std::string hash = std::move(facts.content_hash);  // of the bytes as they are on disk
  facts = analyze_file(path, text, *rules_, options.file, &types);
  facts.content_hash = std::move(hash);
}

}  // namespace stallscope
