#include "record/environment.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/install_tree.h"
#include "collect/settings.h"

extern char** environ;

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPreload = "LD_PRELOAD";
constexpr const char* kPythonPath = "PYTHONPATH";

std::string* find(std::vector<std::string>& variables, std::string_view name) {
  for (std::string& variable : variables)
    if (variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=')
      return &variable;
  return nullptr;
}

std::string value_of(std::vector<std::string>& variables, std::string_view name) {
  const std::string* variable = find(variables, name);
  return variable == nullptr ? std::string() : variable->substr(name.size() + 1);
}

void set(std::vector<std::string>& variables, std::string_view name, const std::string& value) {
  std::string assignment = std::string(name) + "=" + value;
  if (std::string* variable = find(variables, name))
    *variable = std::move(assignment);
  else
    variables.push_back(std::move(assignment));
}

void set_number(std::vector<std::string>& variables, std::string_view name, uint64_t value) {
  if (value != 0) set(variables, name, std::to_string(value));
}

/// The dynamic linker splits LD_PRELOAD at spaces and colons: a library whose
/// path holds one is reached through a link in the recording folder.
std::string preloadable(const std::string& library, const std::string& recording_folder) {
  if (library.find_first_of(" :") == std::string::npos) return library;
  const fs::path link = fs::path(recording_folder) / fs::path(library).filename();
  std::error_code error;
  fs::create_symlink(library, link, error);
  return link.string();
}

/// Points `variable` at our library, unless the user has pointed it elsewhere.
void inject(TargetEnvironment& target, std::string_view variable, const std::string& library,
            std::string_view lost) {
  const std::string theirs = value_of(target.variables, variable);
  if (theirs.empty() || theirs == library) return set(target.variables, variable, library);
  target.notes.push_back(std::string(lost) + " not recorded, because " + std::string(variable) +
                         " already names '" + theirs + "' (unset it to record them)");
}

void inject_preload(TargetEnvironment& target, const std::string& library) {
  const std::string theirs = value_of(target.variables, kPreload);
  if (theirs.find(library) != std::string::npos) return;
  // Theirs first: what they interpose keeps working, and reaches ours through it.
  set(target.variables, kPreload, theirs.empty() ? library : theirs + ":" + library);
}

/// Python imports sitecustomize from the first folder that has one: ours comes
/// first and goes on to theirs.
void inject_annotations(TargetEnvironment& target) {
  const Result<std::string> folder = library_path(settings::kPythonFolder);
  if (!folder) {
    target.notes.push_back("Python programs are not annotated: " + folder.error().message);
    return;
  }
  const std::string theirs = value_of(target.variables, kPythonPath);
  if (theirs == *folder || theirs.starts_with(*folder + ":")) return;
  set(target.variables, kPythonPath, theirs.empty() ? *folder : *folder + ":" + theirs);
}

}  // namespace

std::vector<std::string> current_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

Result<TargetEnvironment> target_environment(const RecordOptions& options,
                                             const std::string& recording_folder,
                                             std::vector<std::string> base) {
  TargetEnvironment target{.variables = std::move(base), .notes = {}};
  // A run inside a run: the inner one records, with its own settings only.
  std::erase_if(target.variables, [](const std::string& variable) {
    return variable.starts_with(std::string(settings::kOut) + "=");
  });
  set(target.variables, settings::kOut, recording_folder);
  set_number(target.variables, settings::kMaxBytes, options.max_bytes);
  set_number(target.variables, settings::kDelayMs, options.delay_ms);
  set_number(target.variables, settings::kDurationMs, options.duration_ms);
  if (!options.capture_range.empty())
    set(target.variables, settings::kCaptureRange, options.capture_range);
  if (options.capture_profiler) set(target.variables, settings::kCaptureProfiler, "1");
  set_number(target.variables, settings::kSteps, options.steps);
  if (!options.step_range.empty()) set(target.variables, settings::kStepRange, options.step_range);

  const Result<std::string> collector = library_path(settings::kCollectLibrary);
  if (!collector) return collector.error();
  inject(target, settings::kNvtxInjection, *collector, "NVTX ranges are");
  if (options.gpu != "none") {
    set(target.variables, settings::kGpu, options.gpu);
    inject(target, settings::kCudaInjection, *collector, "GPU events are");
    inject(target, settings::kNcclProfiler, *collector, "NCCL's own events are");
  }
  if (const Result<std::string> mpi = library_path(settings::kMpiLibrary))
    inject_preload(target, preloadable(*mpi, recording_folder));
  else
    target.notes.push_back("MPI calls are not recorded: " + mpi.error().message);
  if (options.annotate) inject_annotations(target);
  return target;
}

}  // namespace stallscope
