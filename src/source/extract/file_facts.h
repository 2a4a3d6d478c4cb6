// Builds FileFacts from the bytes of one file.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "source/facts/facts.h"
#include "source/facts/type_facts.h"
#include "source/match/ruleset.h"

namespace stallscope {

/// Where the processor time of reading files went, over all threads.
struct AnalysisTimes {
  std::atomic<uint64_t> parse_ns{0};  ///< text to Ast
  std::atomic<uint64_t> facts_ns{0};  ///< Ast to FileFacts
};

/// Larger files are skipped unless asked for: such code is generated, and its tree takes hundreds
/// of times its size at the worst. The largest file of PyTorch's package has 1.4 MB.
inline constexpr uint64_t kLargestSource = 2u << 20;

struct FileOptions {
  uint64_t max_bytes = kLargestSource;  ///< larger files are skipped with a note
  AnalysisTimes* times = nullptr;       ///< added to, if given
  bool hashes = true;                   ///< whether anybody asks for FileFacts::content_hash
};

/// "python", "cpp", "cuda", "notebook", "config", "options" (see is_options_file()) by the file's
/// name; empty for others.
std::string_view language_of_file(std::string_view path);

/// C++ or CUDA by the file's name: what libclang can give types of.
bool is_compiled_path(std::string_view path);

/// Everything `bytes` says by itself, and with `types` what libclang adds for a C++ file. Never
/// fails; `note` says what was left out.
FileFacts analyze_file(const std::string& path, std::string_view bytes, const RuleSet& rules,
                       const FileOptions& options = {}, const ClangTypes* types = nullptr);

/// The note of a file that is larger than they allow.
std::string too_large(const FileOptions& options);

/// `bytes` as places in a file are counted: without a byte order mark, zero bytes as blanks.
std::string counted_text(std::string_view bytes);

}  // namespace stallscope
