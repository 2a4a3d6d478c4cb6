// The types of a project's C++ and CUDA files: found with libclang where it is
// installed, and cached by bytes, flags and headers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "source/clang/worker.h"
#include "source/facts/type_facts.h"

namespace stallscope {

struct ClangOptions {
  bool on = false;
  std::string library;  ///< a file; empty = look for one
  std::string stubs;    ///< folder of our own headers
  std::string root;     ///< of the project, absolute
  std::string cache_folder;
  unsigned processes = 0;  ///< 0 = one per core
  /// For all files together; what is not read by then has no types. Zero = only what is cached;
  /// nothing = as long as it takes.
  std::optional<std::chrono::milliseconds> within;
  std::string when_late;  ///< what the note says of that time: "in ..."
  /// Told how many files of how many are read, by the thread that waits for them.
  std::function<void(size_t done, size_t all)> progress;
};

struct ClangFile {
  std::string path;  ///< absolute
  std::string text;
};

struct ClangLayer {
  std::vector<std::unique_ptr<ClangTypes>> types;  ///< per file; null = not known
  std::string note;                                ///< why types are missing; empty = they are not
};

/// `started`: workers with the library of the options, if they were started ahead.
ClangLayer read_clang_types(std::span<const ClangFile> files, const ClangOptions& options,
                            std::optional<ClangWorkers> started = std::nullopt);

/// Workers for `options`, started now; nothing without a library.
std::optional<ClangWorkers> start_clang(const ClangOptions& options);

/// The library to use: `wanted`, $STALLSCOPE_LIBCLANG or the newest in the usual folders, among
/// them those of LLVM's packages and of an active virtual environment; empty = there is none.
std::string find_libclang(const std::string& wanted);

}  // namespace stallscope
