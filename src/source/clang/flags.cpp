#include "source/clang/flags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestDatabase = 64 << 20;
constexpr unsigned kHighest = 40;  ///< folders above a file that are looked at

/// Arguments with a path behind them, joined or apart.
constexpr std::array<std::string_view, 5> kWithPath = {"-isystem", "-iquote", "-idirafter",
                                                       "-include", "-I"};

std::string absolute(const std::string& path, const std::string& folder) {
  return (fs::path(path).is_absolute() ? fs::path(path) : fs::path(folder) / path)
      .lexically_normal()
      .generic_string();
}

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Whether a file needs C++20, as far as its text tells.
bool is_cpp20(std::string_view text) {
  static constexpr std::array<std::string_view, 25> kSigns = {
      "<bit>",        "<barrier>",  "<compare>", "<concepts>", "<coroutine>",
      "<format>",     "<latch>",    "<numbers>", "<ranges>",   "<semaphore>",
      "<span>",       "<=>",        "char8_t",   "co_await",   "co_return",
      "co_yield",     "consteval",  "constinit", "std::erase", ".contains(",
      "starts_with(", "ends_with(", "concept ",  "requires ",  "requires("};
  return std::ranges::any_of(
      kSigns, [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

bool ends_in(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view e) { return path.ends_with(e); });
}

/// The folders that arguments search for headers.
std::vector<std::string> include_folders(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if ((arguments[i] == "-isystem" || arguments[i] == "-iquote" || arguments[i] == "-idirafter") &&
        i + 1 < arguments.size())
      out.push_back(arguments[i + 1]);
    else if (arguments[i].starts_with("-I"))
      out.push_back(arguments[i].substr(2));
  }
  return out;
}

bool has_standard_library() {
  std::error_code ec;
  for (fs::directory_iterator it("/usr/include/c++", ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code none;
    if (fs::exists(it->path() / "vector", none)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> out;
  std::string word;
  bool any = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (any) out.push_back(std::exchange(word, {}));
      any = false;
      continue;
    }
    any = true;
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word += c;
    }
  }
  if (any) out.push_back(word);
  return out;
}

std::vector<std::string> meaningful_arguments(const std::vector<std::string>& arguments,
                                              const std::string& folder) {
  std::vector<std::string> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.starts_with("-D") || argument.starts_with("-U")) {
      if (argument.size() > 2)
        out.push_back(argument);
      else if (i + 1 < arguments.size())
        out.push_back(argument + arguments[++i]);
      continue;
    }
    if (argument.starts_with("-std=")) {
      // "-std=c++20" of nvcc and "-std=gnu++17" are clang's too.
      if (argument.find("++") != std::string::npos) out.push_back(argument);
      continue;
    }
    for (const std::string_view name : kWithPath) {
      if (!argument.starts_with(name)) continue;
      std::string path = argument.substr(name.size());
      if (path.starts_with('=')) path.erase(0, 1);
      if (path.empty() && i + 1 < arguments.size()) path = arguments[++i];
      // -include-pch, -isystem-after: not the argument it begins with
      if (path.empty() || (path.starts_with('-') && argument.size() > name.size())) break;
      path = absolute(path, folder);
      if (name == "-I")
        out.push_back("-I" + path);
      else
        out.insert(out.end(), {std::string(name), path});
      break;
    }
  }
  return out;
}

CompileCommands::CompileCommands(const std::string& path) {
  const auto text = read_file(path, kLargestDatabase);
  if (!text) return;
  const auto entries = nlohmann::json::parse(*text, nullptr, false);
  if (!entries.is_array()) return;
  const auto said = [](const nlohmann::json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  for (const auto& entry : entries) {
    if (!entry.is_object()) continue;
    std::string folder = said(entry, "directory");
    if (folder.empty()) folder = fs::path(path).parent_path().string();
    const std::string file = said(entry, "file");
    if (file.empty()) continue;
    std::vector<std::string> words;
    if (const auto list = entry.find("arguments"); list != entry.end() && list->is_array()) {
      for (const auto& word : *list)
        if (word.is_string()) words.push_back(word.get<std::string>());
    } else {
      words = split_command(said(entry, "command"));
    }
    by_file_.try_emplace(absolute(file, folder), meaningful_arguments(words, folder));
  }
}

const std::vector<std::string>* CompileCommands::of(const std::string& file) const {
  if (by_file_.empty()) return nullptr;
  if (const auto found = by_file_.find(file); found != by_file_.end()) return &found->second;
  for (fs::path at = fs::path(file).parent_path(); at.has_relative_path(); at = at.parent_path()) {
    const std::string folder = at.generic_string() + "/";
    const auto near = by_file_.lower_bound(folder);
    if (near != by_file_.end() && near->first.starts_with(folder)) return &near->second;
  }
  return &by_file_.begin()->second;
}

ClangFlagFinder::ClangFlagFinder(std::string root, std::string stubs)
    : root_(std::move(root)),
      stubs_(std::move(stubs)),
      has_standard_library_(has_standard_library()) {}

/// The nearest database above a file, in each folder also that of a build folder in it.
const CompileCommands* ClangFlagFinder::commands_for(const std::string& path) {
  fs::path at = fs::path(path).parent_path();
  for (unsigned i = 0; i < kHighest && at.has_relative_path(); ++i, at = at.parent_path()) {
    for (const char* folder : {"", "build"}) {
      const std::string file = (at / folder / "compile_commands.json").lexically_normal().string();
      std::error_code ec;
      auto known = databases_.find(file);
      if (known == databases_.end()) {
        const bool exists = fs::is_regular_file(file, ec);
        known = databases_.emplace(file, exists ? std::make_unique<CompileCommands>(file) : nullptr)
                    .first;
      }
      if (known->second) return known->second.get();
    }
    if (at == fs::path(root_)) break;
  }
  return nullptr;
}

/// The header's path in the first of `folders` that has it; empty when none has.
std::string ClangFlagFinder::find(const std::vector<std::string>& folders,
                                  std::string_view header) const {
  for (const std::string& folder : folders) {
    std::error_code ec;
    if (fs::path path = fs::path(folder) / header; fs::exists(path, ec)) return path.string();
  }
  return {};
}

ClangFlags ClangFlagFinder::of(const std::string& path, std::string_view text) {
  ClangFlags out;
  const bool cuda = ends_in(path, {".cu", ".cuh", ".hip"}) || mentions(text, {"__global__", "<<<"});
  auto& arguments = out.arguments;
  arguments = {"-x", cuda ? "cuda" : "c++", "-w", "-ferror-limit=0", "-fno-spell-checking"};
  if (cuda)
    arguments.insert(arguments.end(),
                     {"--cuda-host-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"});
  const CompileCommands* database = commands_for(path);
  const std::vector<std::string>* said = database ? database->of(path) : nullptr;
  const bool standard = said && std::ranges::any_of(*said, [](const std::string& argument) {
                          return argument.starts_with("-std=");
                        });
  const bool own_headers = mentions(text, {"#include \"", "# include \""});
  // The standard library of C++17 is read in three quarters of the time.
  if (!standard)
    arguments.emplace_back(own_headers || is_cpp20(text) ? "-std=c++20" : "-std=c++17");
  if (said) {
    arguments.insert(arguments.end(), said->begin(), said->end());
  } else {
    // A training build is an optimised one.
    arguments.emplace_back("-DNDEBUG");
    for (const char* folder : {"", "include", "src"})
      arguments.push_back("-I" + (fs::path(root_) / folder).lexically_normal().generic_string());
  }
  // Behind clang's own headers, which a wheel's library comes without.
  arguments.insert(arguments.end(), {"-idirafter", stubs_ + "/builtin"});
  std::vector<std::string> folders = include_folders(arguments);
  // The headers of LibTorch are in two folders, of which some builds name the first only.
  for (const std::string& folder : include_folders(arguments)) {
    std::error_code ec;
    const std::string api = (fs::path(folder) / "torch/csrc/api/include").string();
    if (!fs::exists(api, ec)) continue;
    arguments.insert(arguments.end(), {"-isystem", api});
    folders.push_back(api);
  }
  const auto stub = [&](const char* name) { out.prefix.push_back(stubs_ + "/" + name); };
  if (!has_standard_library_) stub("std.h");
  // CUDA's own headers need its compiler's wrappers in a .cu file.
  if (cuda || find(folders, "cuda_runtime.h").empty()) stub("cuda.h");
  const auto needs = [&](std::initializer_list<std::string_view> words) {
    return own_headers || mentions(text, words);
  };
  if (needs({"nccl"}) && find(folders, "nccl.h").empty()) stub("nccl.h");
  if (needs({"MPI_"}) && find(folders, "mpi.h").empty()) stub("mpi.h");
  if (needs({"torch", "ATen", "c10", "at::"})) {
    const std::string torch = find(folders, "torch/torch.h");
    if (!torch.empty()) {
      out.aten = find(folders, "ATen");
      out.uses = stubs_ + "/torch_uses.h";
      out.prefix.push_back(torch);
      // Whoever installs another PyTorch replaces these.
      out.witnesses = {torch};
      for (const char* header : {"torch/version.h", "torch/headeronly/version.h",
                                 "ATen/core/TensorBody.h", "ATen/Functions.h"}) {
        if (std::string file = find(folders, header); !file.empty())
          out.witnesses.push_back(std::move(file));
      }
    } else if (find(folders, "ATen/ATen.h").empty()) {
      stub("torch.h");
    }
  }
  return out;
}

}  // namespace stallscope
