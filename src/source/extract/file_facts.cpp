#include "source/extract/file_facts.h"

#include <time.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"
#include "source/extract/evidence.h"
#include "source/extract/macro_functions.h"
#include "source/extract/named_values.h"
#include "source/extract/settings.h"
#include "source/match/candidates.h"
#include "source/match/macro_calls.h"
#include "source/names/mentions.h"
#include "source/names/roles.h"
#include "source/names/used_words.h"
#include "source/syntax/parsed_text.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

/// A file that names none of these holds nothing a rule is about.
constexpr std::array<std::string_view, 46> kFrameworks = {
    "torch",      "jax",        "equinox",      "flax",      "optax",
    "lightning",  "accelerate", "transformers", "deepspeed", "cuda",
    "Cuda",       "CUDA",       "nccl",         "MPI_",      "mpi4py",
    "einops",     "fairseq",    "backward",     "TORCH_",    "JAX_",
    "NCCL_",      "cupy",       ".item()",      "tree_at",   ".to(self.device",
    ".to(device", "zero_grad",  "thrust",       "cublas",    "hip_runtime",
    "hipM",       "hipFree",    "hipDevice",    "hipStream", "hipEvent",
    "hipLaunch",  "hipblas",    "Kokkos::",     "AMReX",     "amrex::",
    "grain.",     "occa::",     "gpuMem",       "gpuStream", "gpuDevice",
    "__global__"};

/// vendor/libtorch/include/ATen/Tensor.h: LibTorch's own headers, unpacked beside a program, are
/// not the program's.
bool is_librarys_header(std::string_view path) {
  return contains_any(
      path, {"/include/aten/", "/include/c10/", "/include/caffe2/", "/include/torch/csrc/"});
}

std::string_view without_bom(std::string_view bytes) {
  return bytes.starts_with("\xef\xbb\xbf") ? bytes.substr(3) : bytes;
}

/// Why bytes are no text to read; empty when they are.
std::string what_is_wrong(std::string_view bytes) {
  constexpr size_t kLookedAt = 256;  ///< bytes; in UTF-16 half of those of code are zero
  const std::string_view head = bytes.substr(0, kLookedAt);
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff") ||
      3 * static_cast<size_t>(std::ranges::count(head, '\0')) > head.size())
    return "is not read: UTF-16, UTF-32 or no text; save it as UTF-8";
  const size_t end = bytes.find('\r');
  if (end < bytes.size() - 1 && bytes.find('\n') == std::string_view::npos)
    return "is not read: its lines end with carriage returns alone; save it with line feeds";
  return {};
}

/// What of a file that was read is in doubt; empty when nothing is.
std::string reading_note(const Ast& ast, const FileFacts& facts) {
  if (const uint32_t line = conflict_line(ast.source))
    return "line " + std::to_string(line) +
           " begins a conflict of a merge: both sides were read as code";
  // In C++ a macro that is no code by itself is no news.
  if (ast.grammar != Grammar::python || ast.error_line == 0) return {};
  return "line " + std::to_string(ast.error_line) + " could not be parsed (" +
         std::to_string(static_cast<int>(100 * facts.readable)) +
         " % of the file could): findings around it may be missing";
}

/// Processor time of this thread.
uint64_t thread_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// train.cpp, layer.hpp of an engine that keeps its device behind classes of its own: what it calls
/// copies and waits, though no library is named there.
bool may_drive_engine(std::string_view path, std::string_view bytes) {
  constexpr std::array<std::string_view, 12> kWords = {
      "gradient", "Gradient", "ptimizer", "forward(", "Forward(", "backprop",
      "epoch",    "gpu",      "GPU",      "learning", "train",    "Train"};
  return is_compiled_path(path) && !path.ends_with(".c") && holds_text(bytes, "#include \"") &&
         std::ranges::any_of(kWords,
                             [&](std::string_view word) { return holds_text(bytes, word); });
}

bool names_framework(std::string_view path, std::string_view bytes) {
  if (language_of_file(path) == "cuda" || may_drive_engine(path, bytes)) return true;
  // C that only sends messages is of no interest.
  if (path.ends_with(".c") && !holds_text(bytes, "cuda") && !holds_text(bytes, "hip")) return false;
  return std::ranges::any_of(kFrameworks,
                             [&](std::string_view word) { return holds_text(bytes, word); });
}

/// train.py that makes a Trainer(model, Meter()) and runs it: it says what others are handed,
/// though it names no framework itself.
bool runs_as_program(std::string_view bytes) {
  return holds_text(bytes, "__main__");
}

/// a/b/__init__.py
bool is_package_file(std::string_view path) {
  return path.ends_with("__init__.py");
}

/// What a file of Python names that is of no interest itself.
std::vector<uint32_t> mentions_of_skipped(std::string_view path, std::string_view bytes) {
  if (!is_package_file(path)) return mentions_of(bytes);
  const Ast ast = parse_source(without_bom(bytes), Grammar::python);
  if (ast.error_bytes > 0) return mentions_of(bytes);
  std::vector<ClassFacts> classes;
  return mentions_of(ast, Names(ast), true, classes);
}

}  // namespace

std::string_view language_of_file(std::string_view path) {
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  std::string_view ext = path.substr(dot + 1);
  if (ext == "py" || ext == "pyw") return "python";
  if (ext == "ipynb") return "notebook";
  if (ext == "cu" || ext == "cuh" || ext == "hip") return "cuda";
  // C too: hosts of devices are written in it; .inl and its like have the templates of a header
  if (is_one_of(ext, {"cpp", "cc", "cxx", "c++", "c", "C", "h", "hpp", "hh", "hxx", "H", "inl",
                      "ipp", "tpp", "txx"}))
    return "cpp";
  if (is_settings_file(path)) return "config";
  return is_options_file(path) ? "options" : std::string_view();
}

bool is_compiled_path(std::string_view path) {
  const std::string_view language = language_of_file(path);
  return language == "cpp" || language == "cuda";
}

std::string too_large(const FileOptions& options) {
  return "larger than " + std::to_string(options.max_bytes >> 20) +
         " MB; raise --max-file-size to read it";
}

std::string counted_text(std::string_view bytes) {
  std::string out(without_bom(bytes));
  std::ranges::replace(out, '\0', ' ');
  return out;
}

FileFacts analyze_file(const std::string& path, std::string_view bytes, const RuleSet& rules,
                       const FileOptions& options, const ClangTypes* types) {
  FileFacts facts;
  facts.path = path;
  if (options.hashes) facts.content_hash = content_hash(bytes);
  facts.language = language_of_file(path);
  if (facts.language == "notebook") facts.language = "python";
  if (facts.language.empty()) facts.language = "python";
  facts.note = bytes.size() > options.max_bytes ? too_large(options) : what_is_wrong(bytes);
  if (!facts.note.empty()) {
    facts.skipped = true;
    return facts;
  }
  if (facts.language == "config") {
    // Large ones are data.
    facts.skipped = bytes.size() > kLargestSettings;
    if (facts.skipped) return facts;
    facts.has_suppressions = holds_text(bytes, "stallscope:");
    facts.functions.emplace_back().flags = kModuleLevel;
    facts.functions.back().name = facts.functions.back().qualified = "<file>";
    facts.mentions = mentions_of(bytes);  // _target_: package.Class.method
    add_named_values(bytes, Notation::settings, facts.named_values);
    keep_once(facts.named_values);
    collect_settings(without_bom(bytes), rules, facts);
    return facts;
  }
  if (facts.language == "options") {
    facts.skipped = true;
    if (bytes.size() > kLargestSettings) return facts;
    const bool document = is_document(path);
    if (!document) facts.mentions = mentions_of(bytes);
    add_named_values(bytes, document ? Notation::document : Notation::settings, facts.named_values);
    keep_once(facts.named_values);
    return facts;
  }
  const bool python = facts.language == "python";
  const bool framework = names_framework(path, bytes);
  if (is_librarys_header(path) || (!framework && !(python && runs_as_program(bytes)))) {
    facts.skipped = true;
    if (python) {
      facts.mentions = mentions_of_skipped(path, bytes);
      add_named_values(bytes, Notation::python, facts.named_values);
      keep_once(facts.named_values);
    } else if (!is_librarys_header(path)) {
      facts.used_words = used_words(bytes);
    }
    return facts;
  }
  facts.has_suppressions = holds_text(bytes, "stallscope:");
  const uint64_t start = thread_time_ns();
  Ast ast = parse_source(without_bom(bytes), python ? Grammar::python : Grammar::cuda);
  if (ast.error_bytes > 0 && !bytes.empty()) {
    facts.readable = std::max(
        0.0, 1.0 - static_cast<double>(ast.error_bytes) / static_cast<double>(bytes.size()));
  }
  facts.note = reading_note(ast, facts);
  const uint64_t parsed = thread_time_ns();
  if (!python) facts.hiding_macros = hiding_macros(ast.source, rules);
  facts.typed = types != nullptr;
  if (types) insert_hidden_calls(ast, *types, rules);
  Names names(ast);
  if (types) names.resolve_calls(*types);
  const Outline outline = outline_of(ast, names, facts);
  Inference inference(ast, names, outline, facts, types);
  inference.run();
  const Guards guards(ast, outline, inference);
  Switches switches(ast, facts);
  collect_calls(ast, names, outline, inference, guards, switches, facts);
  const FileView view{ast, names, outline, inference, guards, facts};
  // Of TensorFlow alone: its names are like Torch's, what they do is not.
  const bool foreign = python && names.uses("tensorflow") && !names.uses("torch") &&
                       !names.uses("jax") && !names.uses("flax");
  // CUDA C++ is C++ as well.
  const uint32_t languages = python ? 1u : facts.language == "cpp" ? 2u : 2u | 4u;
  if (!foreign) collect_candidates(view, rules, languages, switches, facts);
  if (!python) add_macro_functions(ast.source, rules, languages, facts);
  if (python) {
    facts.mentions = mentions_of(ast, names, is_package_file(path), facts.classes);
    add_named_values(ast.source, Notation::python, facts.named_values,
                     conditional_names(ast, switches));
    add_bound_names(ast, facts.named_values);
    keep_once(facts.named_values);
  } else {
    facts.used_words = used_words(ast.source);
  }
  for (const auto& [bound, to] : names.imports()) facts.imports.emplace_back(bound, to);
  for (const auto& [bound, to] : names.earlier_imports()) facts.imports.emplace_back(bound, to);
  for (const std::string& from : names.stars()) facts.imports.emplace_back("*", from);
  std::ranges::sort(facts.imports);
  facts.imports.erase(std::unique(facts.imports.begin(), facts.imports.end()), facts.imports.end());
  if (options.times) {
    options.times->parse_ns += parsed - start;
    options.times->facts_ns += thread_time_ns() - parsed;
  }
  return facts;
}

}  // namespace stallscope
