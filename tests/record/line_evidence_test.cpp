#include "record/line_evidence.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/temporary_folder.h"

using namespace stallscope;

namespace {

// Size and time of a file, as stallscope_lines.py writes them.
std::string state_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
}

}  // namespace

TEST_CASE("what processes leave of their lines is joined") {
  struct Case {
    std::string what;
    std::vector<std::pair<const char*, std::string>> records;  ///< FILE = the program's file
    RecordedLines lines;
    uint32_t silent;
  };
  const std::string whole = "lines\nfile 1 STATE FILE\nwatched 1 1-9\nstarted 1 1,5-9\n";
  for (const Case& c : std::vector<Case>{
           {"one", {{"7.lines", whole + "hit 1 5\nhit 1 6\n"}}, {"1-9", "5-6", "", "HASH"}, 0},
           {"a forked worker goes on",
            {{"7.lines", whole + "hit 1 5\n"}, {"8.lines", "lines\nfile 3 STATE FILE\nhit 3 8\n"}},
            {"1-9", "5,8", "", "HASH"},
            0},
           {"another program of the same process",
            {{"7.lines", whole}, {"7-1.lines", "lines\nfile 1 STATE FILE\nhit 1 2\n"}},
            {"1-9", "2", "", "HASH"},
            0},
           {"compiled functions are not watched",
            {{"7.lines", whole + "compiled\nhit 1 5\n"}},
            {"1,5-9", "5", "2-4", "HASH"},
            0},
           {"one that could not be kept",
            {{"7.lines", whole}, {"8.lines", ""}},
            {"1-9", "", "", "HASH"},
            1},
           {"one that is only known by its samples",
            {{"7.lines", whole}, {"7.samples", ""}, {"8.samples", ""}, {"9.node.samples", ""}},
            {"1-9", "", "", "HASH"},
            1},
           {"where nobody tells lines nobody is silent",
            {{"7.lines", "modules\nfile 0 STATE FILE\nended\n"}, {"8.samples", ""}},
            {"", "", "", "HASH"},
            0},
           {"an older Python beside it cannot tell what did not run",
            {{"7.lines", whole + "hit 1 5\n"}, {"8.lines", "modules\nfile 0 STATE FILE\nended\n"}},
            {"5", "5", "", "HASH"},
            0},
           {"one that was killed tells nothing of what it loaded",
            {{"7.lines", "modules\nfile 0 STATE FILE\nended\n"}, {"8.lines", "modules\n"}},
            {"", "", "", "HASH"},
            1},
           {"loaded with another text",
            {{"7.lines", "lines\nfile 1 3 12345 FILE\nwatched 1 1-9\n"}},
            {"1-9", "", "", kChangedWhileRecorded},
            0},
           {"damage is left out",
            {{"7.lines", whole + "hit 4 5\nhit\nhit 1 x\nfile\n\nnonsense 1 2\nhit 1 7"}},
            {"1-9", "7", "", "HASH"},
            0},
       }) {
    CAPTURE(c.what);
    const TemporaryFolder folder("lines-test");
    const std::string program = folder.path() + "/train.py";
    std::ofstream(program) << "x = 1\n";
    for (const auto& [name, text] : c.records) {
      std::string left = text;
      for (const auto& [word, value] :
           {std::pair<std::string, std::string>{"STATE", state_of(program)}, {"FILE", program}})
        for (size_t at = 0; (at = left.find(word, at)) != std::string::npos; at += value.size())
          left.replace(at, word.size(), value);
      std::ofstream(folder.path() + "/" + name) << left;
    }
    const TakenLines taken = take_line_evidence(folder.path());
    REQUIRE(taken.files.contains(program));
    const RecordedLines& lines = taken.files.at(program);
    CHECK(lines.watched == c.lines.watched);
    CHECK(lines.hit == c.lines.hit);
    CHECK(lines.compiled == c.lines.compiled);
    CHECK(lines.hash == (c.lines.hash == "HASH" ? content_hash("x = 1\n") : c.lines.hash));
    CHECK(taken.silent_processes == c.silent);
    CHECK_FALSE(std::filesystem::exists(folder.path() + "/7.lines"));
  }
}
