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

TEST_CASE("the root is that of the settings, else of the repository, else of the project") {
  struct Row {
    std::vector<std::string> marks;
    std::string path, root;
  };
  const std::vector<Row> rows = {
      {{}, "a/b/t.py", "a/b"},
      {{"a/setup.py"}, "a/b/t.py", "a"},
      {{"pyproject.toml", "a/setup.py"}, "a/b/t.py", "a"},  // no repository: the nearest
      {{".git/HEAD", "a/setup.py"}, "a/b/t.py", ""},
      {{".git/HEAD", "a/.git/HEAD"}, "a/b/t.py", "a"},
      {{".git/HEAD", "a/stallscope.yml"}, "a/b/t.py", "a"},
      {{".git/HEAD", "a/stallscope.yaml", "a/b/setup.py"}, "a/b/t.py", "a"},
      {{"stallscope.yml", "a/.git/HEAD"}, "a/b/t.py", "a"},
      {{"stallscope.yml", "a/setup.py"}, "a/b/t.py", ""},
      {{".git/HEAD", "a/stallscope.yml"}, "c/t.py", ""},
      {{".git/HEAD", "a/pyvenv.cfg"}, "a/b/t.py", "a/b"},  // an installed package
  };
  for (const Row& row : rows) {
    const TemporaryFolder folder("project-test");
    const std::string top = std::filesystem::canonical(folder.path()).string();
    for (const std::string& mark : row.marks) {
      std::filesystem::create_directories(std::filesystem::path(top + "/" + mark).parent_path());
      REQUIRE(write_file(top + "/" + mark, ""));
    }
    const std::string file = top + "/" + row.path;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    REQUIRE(write_file(file, ""));
    CAPTURE(row.marks);
    CHECK(project_root(file) == (row.root.empty() ? top : top + "/" + row.root));
  }
}

TEST_CASE("what a repository leaves out is no part of it if it is a project itself") {
  const TemporaryFolder folder("project-test");
  const std::string top = std::filesystem::canonical(folder.path()).string();
  for (const char* name : {"/.git", "/deps/other/pkg", "/deps/plain", "/own/part"})
    std::filesystem::create_directories(top + name);
  for (const char* name : {"/deps/other", "/own"})
    REQUIRE(write_file(top + name + "/setup.py", ""));
  for (const char* name : {"/deps/other/pkg", "/deps/plain", "/own/part"})
    REQUIRE(write_file(top + name + "/t.py", ""));
  REQUIRE(write_file(top + "/.gitignore", "/deps\npart\n"));
  CHECK(project_root(top + "/deps/other/pkg/t.py") == top + "/deps/other");
  CHECK(project_root(top + "/deps/plain/t.py") == top);
  CHECK(project_root(top + "/own/part/t.py") == top);
  REQUIRE(write_file(top + "/.gitignore", ""));
  CHECK(project_root(top + "/deps/other/pkg/t.py") == top);
  REQUIRE(write_file(top + "/deps/.gitignore", "*\n"));
  CHECK(project_root(top + "/deps/other/pkg/t.py") == top + "/deps/other");
}

TEST_CASE("several paths share the folder of their roots") {
  const TemporaryFolder folder("project-test");
  const std::string top = std::filesystem::canonical(folder.path()).string();
  for (const char* name : {"/a", "/ab"}) {
    std::filesystem::create_directories(top + name);
    REQUIRE(write_file(top + name + "/setup.py", ""));
  }
  CHECK(*project_root(std::vector{top + "/a/setup.py"}) == top + "/a");
  CHECK(*project_root(std::vector{top + "/a", top + "/ab/setup.py"}) == top);
  CHECK(*project_root(std::vector{top + "/ab", top + "/a"}) == top);
  CHECK(*project_root(std::vector<std::string>{top + "/a", "/usr"}) == "/");
  CHECK_FALSE(project_root(std::vector{top + "/none"}).ok());
}

TEST_CASE("a link to a file of the project is that file, one to elsewhere is read") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder("project-test"), other("project-test");
  const std::string root = folder.path();
  for (const std::string& path : {root + "/b.py", root + "/code", other.path() + "/far.py"})
    REQUIRE(write_file(path, "import torch\n"));
  fs::create_symlink("b.py", root + "/a.py");  // sorted before what it leads to
  fs::create_symlink("b.py", root + "/c.py");  // and behind it
  fs::create_symlink("code", root + "/d.py");  // no source by its own name
  fs::create_symlink(other.path() + "/far.py", root + "/e.py");
  fs::create_symlink(other.path() + "/far.py", root + "/f.py");
  fs::create_symlink("nowhere.py", root + "/g.py");
  CHECK(paths_of(find_project({root})) == std::vector<std::string>{"b.py", "d.py", "e.py"});
}
