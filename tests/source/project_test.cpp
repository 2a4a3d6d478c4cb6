// Which files belong to a project, and which folders are none.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "source/project.h"

using namespace stallscope;

namespace {

class Home {
 public:
  explicit Home(const std::string& folder) {
    if (const char* home = std::getenv("HOME")) before_ = home;
    ::setenv("HOME", folder.c_str(), 1);
  }
  ~Home() { ::setenv("HOME", before_.c_str(), 1); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

 private:
  std::string before_;
};

std::vector<std::string> paths_of(const Result<Project>& project) {
  std::vector<std::string> out;
  for (const SourceInput& input : project->inputs) out.push_back(input.path);
  return out;
}

}  // namespace

TEST_CASE("a script in a folder that holds everything is read with the files beside it") {
  const TemporaryFolder folder("project-test");
  const std::string root = folder.path();
  std::filesystem::create_directories(root + "/other/deep");
  for (const char* name : {"/train.py", "/helper.py", "/other/deep/model.py"})
    REQUIRE(write_file(root + name, "import torch\n"));
  const std::vector<std::string> all = {"helper.py", "other/deep/model.py", "train.py"};
  const std::vector<std::string> beside = {"helper.py", "train.py"};

  CHECK_FALSE(is_wide_folder(root));
  CHECK(paths_of(find_project({root + "/train.py"})) == all);
  const Home home(root);
  CHECK(is_wide_folder(root));
  CHECK(is_wide_folder("/"));
  CHECK(is_wide_folder("/tmp"));
  CHECK(paths_of(find_project({root + "/train.py"})) == beside);
  CHECK(paths_of(find_project({root})) == all);  // it was named
  CHECK(find_project({root + "/other"})->chosen == std::vector<std::string>{"deep/model.py"});

  // A mark says that the home is a project all the same.
  REQUIRE(write_file(root + "/pyproject.toml", ""));
  const std::vector<std::string> marked = {"helper.py", "other/deep/model.py", "pyproject.toml",
                                           "train.py"};
  CHECK(paths_of(find_project({root + "/train.py"})) == marked);
}

TEST_CASE("a project with too many files is an error that names its folder") {
  const TemporaryFolder folder("project-test");
  for (int i = 0; i < 5; ++i)
    REQUIRE(write_file(folder.path() + "/m" + std::to_string(i) + ".py", ""));
  CHECK(find_project({folder.path()}, {.most_files = 5})->inputs.size() == 5);
  const auto refused = find_project({folder.path()}, {.most_files = 4});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == kTooManyFiles);
  CHECK(refused.error().file == std::filesystem::canonical(folder.path()).string());
}
