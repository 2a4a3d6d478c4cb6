#include "source/clang/layer.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "source/clang/flags.h"
#include "source/clang/worker.h"
#include "source/facts/cache_entry.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// Changes whenever reading does; what is stored otherwise is not read.
constexpr std::string_view kClangFormat = "clang-3";

/// In the cache instead of types: libclang gave up on these bytes. A crash of today's headers may
/// not be one of tomorrow's, so it is tried again after a day.
constexpr std::string_view kGaveUp = "gave up";
constexpr auto kGivenUpFor = std::chrono::hours(24);

constexpr int kNewest = 22, kOldest = 14;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_unchanged(const HeaderStamp& header) {
  return stamp_of(header.path) == header;
}

/// What a file is, as long as it is not replaced.
std::string identity(const std::string& path) {
  const auto stamp = stamp_of(path);
  return stamp ? path + std::to_string(stamp->bytes) + ' ' + std::to_string(stamp->modified_ns)
               : path;
}

std::string identity_of_stubs(const std::string& folder) {
  std::vector<std::string> hashes;
  std::error_code ec;
  for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (!it->is_regular_file(ec)) continue;
    if (auto text = read_file(it->path().string())) hashes.push_back(content_hash(*text));
  }
  std::ranges::sort(hashes);
  std::string all;
  for (const std::string& hash : hashes) all += hash;
  return content_hash(all);
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& argument : arguments) out += argument + '\n';
  return out;
}

bool is_recent(const std::string& entry) {
  std::error_code ec;
  const auto written = fs::last_write_time(entry, ec);
  return !ec && fs::file_time_type::clock::now() - written < kGivenUpFor;
}

class Layer {
 public:
  Layer(std::span<const ClangFile> files, const ClangOptions& options,
        std::optional<ClangWorkers> started)
      : files_(files),
        options_(options),
        started_(std::move(started)),
        lasting_(!options.cache_folder.empty() && options.cache_folder.starts_with(options.root)),
        library_(find_libclang(options.library)) {
    out_.types.resize(files.size());
  }

  ClangLayer run() {
    if (library_.empty()) {
      out_.note = "libclang was not found" +
                  (options_.library.empty() ? std::string() : " at " + options_.library) +
                  ": C++ is read without types, findings in it are less certain "
                  "(install libclang1-19, or pip install libclang)";
      return std::move(out_);
    }
    tool_ = identity(library_) + identity_of_stubs(options_.stubs) + std::string(kClangFormat);
    ClangFlagFinder flags(options_.root, options_.stubs);
    for (size_t i = 0; i < files_.size(); ++i) request(i, flags.of(files_[i].path, files_[i].text));
    read();
    if (out_.note.empty()) out_.note = what_is_missing();
    return std::move(out_);
  }

 private:
  void give_up_on(size_t file) {
    if (gave_up_++ == 0) first_given_up_ = files_[file].path;
  }

  std::string what_is_missing() const {
    const auto files = [](size_t n) { return std::to_string(n) + (n == 1 ? " file" : " files"); };
    std::string out;
    if (gave_up_ > 0)
      out = "libclang gave up on " + files(gave_up_) + " (" +
            fs::path(first_given_up_).filename().string() +
            "): read without types, findings there are less certain";
    if (late_ > 0)
      out += (out.empty() ? "" : "; ") + files(late_) + " of " + std::to_string(files_.size()) +
             " had no types " + options_.when_late;
    return out;
  }

  void request(size_t file, const ClangFlags& flags) {
    std::string arguments = joined(flags.arguments) + '|' + joined(flags.prefix);
    for (const std::string& witness : flags.witnesses) arguments += identity(witness) + '\n';
    const std::string entry = !lasting_
                                  ? std::string()
                                  : options_.cache_folder + "/" + content_hash(files_[file].text) +
                                        content_hash(files_[file].path + '\n' + arguments + tool_);
    if (!entry.empty()) {
      if (const auto stored = stored_entry(entry)) {
        if (*stored == kGaveUp && is_recent(entry)) return give_up_on(file);
        auto types = std::make_unique<ClangTypes>();
        if (from_bytes(*stored, *types) && std::ranges::all_of(types->headers, is_unchanged)) {
          out_.types[file] = std::move(types);
          return;
        }
      }
    }
    ClangRequest made;
    made.path = files_[file].path;
    made.text = files_[file].text;
    made.arguments = flags.arguments;
    made.prefix = flags.prefix;
    made.aten = flags.aten;
    made.uses = flags.uses;
    made.precompiled = content_hash(arguments + tool_) + ".pch";
    heavy_ = heavy_ || made.heavy();
    requests_.push_back(std::move(made));
    entries_.push_back(entry);
    wanted_.push_back(file);
  }

  void read() {
    if (requests_.empty()) return;
    if (options_.within && options_.within->count() == 0) {
      late_ = requests_.size();
      return;
    }
    // Without a cache a prefix is compiled for this run, if that pays.
    constexpr size_t kFew = 2;
    if (!lasting_) scratch_.emplace("clang");
    const std::string& folder = lasting_ ? options_.cache_folder : scratch_->path();
    for (ClangRequest& request : requests_) {
      const bool pays = lasting_ || request.heavy() || requests_.size() > kFew;
      request.precompiled = pays ? folder + "/" + request.precompiled : std::string();
    }
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    // With real headers one process takes most of the memory that all may have.
    const unsigned count = heavy_ ? 1 : options_.processes != 0 ? options_.processes : cores;
    ClangWorkers workers = started_ ? std::move(*started_) : ClangWorkers(library_);
    size_t done = files_.size() - requests_.size();
    const auto tell = [&] {
      if (options_.progress) options_.progress(done, files_.size());
    };
    tell();
    ClangOutcome outcome = std::move(workers).read(
        requests_, count, options_.within, [&](size_t i, const ClangTypes* types) {
          // At once: whoever ends this run early has them in the next.
          store(entries_[i], types ? to_bytes(*types) : std::string(kGaveUp));
          ++done;
          tell();
        });
    if (!outcome.unusable.empty()) {
      out_.note = "libclang cannot be used: " + outcome.unusable +
                  "; C++ is read without types, findings in it are less certain";
      return;
    }
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (outcome.types[i]) {
        out_.types[wanted_[i]] = std::move(outcome.types[i]);
      } else if (outcome.late && !outcome.gave_up[i]) {
        ++late_;
      } else {
        give_up_on(wanted_[i]);  // also where the library died before it was given the file
      }
    }
  }

  static void store(const std::string& entry, std::string_view bytes) {
    if (!entry.empty()) store_entry(entry, bytes);
  }

  std::span<const ClangFile> files_;
  const ClangOptions& options_;
  std::optional<ClangWorkers> started_;
  /// Types are bound to places: those of another revision's tree are of no use later.
  const bool lasting_;
  const std::string library_;
  std::optional<TemporaryFolder> scratch_;  ///< for compiled headers when there is no cache
  std::string tool_;
  std::vector<ClangRequest> requests_;
  std::vector<std::string> entries_;  ///< of the cache, per request
  std::vector<size_t> wanted_;        ///< the file of each request
  bool heavy_ = false;
  size_t gave_up_ = 0, late_ = 0;
  std::string first_given_up_;
  ClangLayer out_;
};

}  // namespace

std::string find_libclang(const std::string& wanted) {
  std::error_code ec;
  if (const std::string given = wanted.empty() ? variable("STALLSCOPE_LIBCLANG") : wanted;
      !given.empty())
    return fs::is_regular_file(given, ec) ? given : std::string();
  std::vector<fs::path> folders;
  const std::string searched = variable("LD_LIBRARY_PATH");
  for (size_t at = 0; at < searched.size();) {
    const size_t end = std::min(searched.find(':', at), searched.size());
    if (end > at) folders.emplace_back(searched.substr(at, end - at));
    at = end + 1;
  }
  // The version that was tested, then newer and older ones.
  std::vector<int> versions = {19};
  for (int v = kNewest; v >= kOldest; --v) versions.push_back(v);
  for (const int v : versions) {
    const std::string number = std::to_string(v);
    std::vector<fs::path> places = folders;
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib"})
      places.emplace_back(folder);
    places.emplace_back("/usr/lib/llvm-" + number + "/lib");
    for (const fs::path& folder : places) {
      for (const std::string& name : {"libclang-" + number + ".so.1", "libclang.so." + number}) {
        if (fs::is_regular_file(folder / name, ec)) return (folder / name).string();
      }
    }
  }
  folders.insert(folders.end(), {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib"});
  for (const fs::path& folder : folders) {
    for (const char* name : {"libclang.so.1", "libclang.so"}) {
      if (fs::is_regular_file(folder / name, ec)) return (folder / name).string();
    }
  }
  // The wheel of an active environment.
  if (const std::string environment = variable("VIRTUAL_ENV"); !environment.empty()) {
    for (fs::directory_iterator it(fs::path(environment) / "lib", ec), end; !ec && it != end;
         it.increment(ec)) {
      const fs::path library = it->path() / "site-packages/clang/native/libclang.so";
      std::error_code none;
      if (fs::is_regular_file(library, none)) return library.string();
    }
  }
  return {};
}

ClangLayer read_clang_types(std::span<const ClangFile> files, const ClangOptions& options,
                            std::optional<ClangWorkers> started) {
  return Layer(files, options, std::move(started)).run();
}

std::optional<ClangWorkers> start_clang(const ClangOptions& options) {
  std::string library = options.on ? find_libclang(options.library) : std::string();
  if (library.empty()) return std::nullopt;
  return ClangWorkers(std::move(library));
}

}  // namespace stallscope
