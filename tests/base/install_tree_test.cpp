#include "base/install_tree.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

using namespace stallscope;
namespace fs = std::filesystem;

TEST_CASE("data is found in the source tree, or where STALLSCOPE_DATA says") {
  CHECK(data_path("src/base/install_tree.h").ok());
  const Result<std::string> missing = data_path("no/such/thing");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().to_string().find("STALLSCOPE_DATA") != std::string::npos);

  const fs::path folder =
      fs::temp_directory_path() / ("stallscope-data-" + std::to_string(getpid()));
  fs::create_directories(folder);
  REQUIRE(write_file((folder / "thing").string(), "x").ok());
  ::setenv("STALLSCOPE_DATA", folder.c_str(), 1);
  CHECK(data_path("thing").ok());
  ::unsetenv("STALLSCOPE_DATA");
  fs::remove_all(folder);
}

TEST_CASE("files are read and written whole") {
  const std::string path =
      (fs::temp_directory_path() / ("stallscope-file-" + std::to_string(getpid()))).string();
  const std::string content("a\0b\n", 4);
  REQUIRE(write_file(path, content).ok());
  CHECK(read_file(path).value() == content);
  CHECK_FALSE(read_file(path, 3).ok());
  CHECK_FALSE(read_file("/").ok());
  CHECK_FALSE(read_file(path + "-missing").ok());
  CHECK_FALSE(write_file("/no/such/folder/file", "x").ok());
  // A device stays one: as root a rename would put a file in its place.
  CHECK(write_file("/dev/null", "x").ok());
  CHECK(fs::is_character_file("/dev/null"));
  fs::remove(path);
}

TEST_CASE("the content hash is FNV-1a") {
  CHECK(content_hash("") == "cbf29ce484222325");
  CHECK(content_hash("foobar") == "85944171f73967e8");  // published test vector
}
