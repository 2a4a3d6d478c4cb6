#include "record/environment.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "collect/settings.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

/// A folder that looks like an installation's libraries.
struct FakeLibraries {
  fs::path path = fs::temp_directory_path() / ("stallscope-libraries-" + std::to_string(getpid()));
  FakeLibraries() {
    fs::create_directories(path);
    (void)write_file((path / settings::kCollectLibrary).string(), "");
    (void)write_file((path / settings::kMpiLibrary).string(), "");
    fs::create_directories(path / settings::kPythonFolder);
    ::setenv("STALLSCOPE_LIB", path.c_str(), 1);
  }
  ~FakeLibraries() {
    ::unsetenv("STALLSCOPE_LIB");
    fs::remove_all(path);
  }
  std::string collector() const { return (path / settings::kCollectLibrary).string(); }
  std::string mpi() const { return (path / settings::kMpiLibrary).string(); }
};

bool has(const TargetEnvironment& target, const std::string& assignment) {
  return std::ranges::find(target.variables, assignment) != target.variables.end();
}

}  // namespace

TEST_CASE("the target's environment gains our libraries and keeps the user's") {
  const FakeLibraries libraries;
  RecordOptions options;
  options.max_bytes = 1 << 20;
  const auto make = [&](std::vector<std::string> base) {
    return target_environment(options, "/recording", std::move(base)).value();
  };
  const TargetEnvironment plain = make({"HOME=/home/me"});
  CHECK(plain.notes.empty());
  CHECK(has(plain, "HOME=/home/me"));
  CHECK(has(plain, "STALLSCOPE_OUT=/recording"));
  CHECK(has(plain, "STALLSCOPE_MAX_BYTES=1048576"));
  CHECK(has(plain, "NVTX_INJECTION64_PATH=" + libraries.collector()));
  CHECK(has(plain, "CUDA_INJECTION64_PATH=" + libraries.collector()));
  CHECK(has(plain, "LD_PRELOAD=" + libraries.mpi()));
  const std::string python = (libraries.path / settings::kPythonFolder).string();
  CHECK(has(plain, "PYTHONPATH=" + python));
  CHECK(has(make({"PYTHONPATH=/theirs"}), "PYTHONPATH=" + python + ":/theirs"));
  options.annotate = false;
  CHECK(has(make({"PYTHONPATH=/theirs"}), "PYTHONPATH=/theirs"));
  options.annotate = true;

  const TargetEnvironment taken =
      make({"NVTX_INJECTION64_PATH=/theirs.so", "LD_PRELOAD=/a.so:/b.so",
            "NCCL_PROFILER_PLUGIN=/plugin.so"});
  CHECK(has(taken, "NVTX_INJECTION64_PATH=/theirs.so"));
  CHECK(has(taken, "NCCL_PROFILER_PLUGIN=/plugin.so"));
  CHECK(has(taken, "LD_PRELOAD=/a.so:/b.so:" + libraries.mpi()));
  CHECK(taken.notes.size() == 2);

  // A run inside a run records into its own folder.
  const TargetEnvironment nested = make({"STALLSCOPE_OUT=/outer"});
  CHECK(has(nested, "STALLSCOPE_OUT=/recording"));
  CHECK_FALSE(has(nested, "STALLSCOPE_OUT=/outer"));
}
