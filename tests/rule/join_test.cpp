#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "rule/file_join.h"
#include "rule/finding.h"

using namespace stallscope;

TEST_CASE("files meet by their longest common suffix") {
  struct Case {
    std::string what;
    std::vector<const char*> files;
    const char* run_path;
    const char* joined;  ///< "" = none
  };
  for (const Case& c : std::vector<Case>{
           {"equal", {"/a/train.py"}, "/a/train.py", "/a/train.py"},
           {"container path",
            {"/home/me/job/src/train.py"},
            "/workspace/src/train.py",
            "/home/me/job/src/train.py"},
           {"relative", {"./src/train.py"}, "/job/src/train.py", "./src/train.py"},
           {"name alone when it is the only one", {"train.py"}, "/x/y/train.py", "train.py"},
           {"the longer suffix wins",
            {"a/model/net.py", "b/head/net.py"},
            "/w/head/net.py",
            "b/head/net.py"},
           {"a tie is nobody's", {"a/net.py", "b/net.py"}, "/w/net.py", ""},
           {"the same path wins over a longer end",
            {"/w/model.py", "/here/w/model.py"},
            "/w/model.py",
            "/w/model.py"},
           {"a library's file is not known by its name alone",
            {"/job/queue.py"},
            "/usr/lib/python3.11/queue.py",
            ""},
           {"another name is another file", {"a/mytrain.py"}, "/w/train.py", ""}}) {
    CAPTURE(c.what);
    std::vector<SourceFact> facts;
    for (const char* file : c.files) {
      facts.emplace_back();
      facts.back().file = file;
    }
    const FileJoin join(files_of(facts), {}, {});
    CHECK(join.source_file(c.run_path).value_or("") == c.joined);
  }
}

TEST_CASE("content settles what names cannot") {
  std::vector<SourceFact> facts(2);
  facts[0].file = "a/net.py";
  facts[0].content_hash = "11";
  facts[1].file = "b/net.py";
  facts[1].content_hash = "22";
  CHECK(FileJoin(files_of(facts), {}, {{"/w/net.py", "22"}}).source_file("/w/net.py") ==
        "b/net.py");
  const FileJoin changed(files_of(facts), {}, {{"/w/a/net.py", "33"}});
  CHECK_FALSE(changed.source_file("/w/a/net.py").has_value());
  CHECK(changed.changed_file("/w/a/net.py") == "a/net.py");
  const FileJoin mapped(files_of(facts), {{"/container/x", "a"}}, {});
  CHECK(mapped.source_file("/container/x/net.py") == "a/net.py");
}

TEST_CASE("another file's name is no sign of a change where the run's paths are those of here") {
  std::vector<SourceFact> facts(2);
  facts[0].file = "/p/load.py";
  facts[0].content_hash = "11";
  facts[1].file = "/p/train.py";
  facts[1].content_hash = "22";
  for (const auto& [train, changed] :
       {std::pair<const char*, bool>{"/p/train.py", false}, {"/container/train.py", true}}) {
    CAPTURE(train);
    const FileJoin join(files_of(facts), {}, {{train, "22"}, {"/lib/load.py", "33"}});
    CHECK(join.source_file(train) == "/p/train.py");
    CHECK_FALSE(join.source_file("/lib/load.py").has_value());
    CHECK(join.changed_file("/lib/load.py").has_value() == changed);
  }
  const FileJoin edited(files_of(facts), {}, {{"/p/train.py", "22"}, {"/p/load.py", "33"}});
  CHECK(edited.changed_file("/p/load.py") == "/p/load.py");
}

TEST_CASE("a part of a path is mapped by whole folders") {
  struct Case {
    const char *from, *to, *path, *mapped;
  };
  for (const Case& c : {Case{"/work", "/here", "/work/a/b.py", "/here/a/b.py"},
                        {"/work/", "/here/", "/work/b.py", "/here/b.py"},
                        {"/work", "/here", "/workspace/b.py", "/workspace/b.py"},
                        {"/work/b.py", "/c.py", "/work/b.py", "/c.py"},
                        {"/", "/mnt", "/b.py", "/mnt/b.py"}})
    CHECK(mapped_path(c.path, {{c.from, c.to}}) == c.mapped);
}

TEST_CASE("fingerprints live through what does not change the stall") {
  const auto of = [](const char* function, const char* line, unsigned ordinal = 0,
                     const char* subject = "") {
    return fingerprint("item-in-step", function, line, ordinal, subject);
  };
  const std::string base = of("train", "total += loss.item()");
  struct Same {
    std::string what;
    const char *function, *line;
  };
  for (const Same& s :
       {Same{"indentation", "train", "      total += loss.item()"},
        {"spaces", "train", "total+=loss.item( )"},
        {"tabs and carriage return", "train", "\ttotal +=\tloss.item()\r"},
        {"qualified name", "pkg.Trainer.train", "total += loss.item()"},
        {"signature", "void ns::train<float>(int, char)", "total += loss.item()"}}) {
    CAPTURE(s.what);
    CHECK(of(s.function, s.line) == base);
  }
  CHECK(of("evaluate", "total += loss.item()") != base);
  CHECK(of("train", "total += grad.item()") != base);
  CHECK(of("train", "total += loss.item()", 1) != base);
  CHECK(fingerprint("other", "train", "total += loss.item()", 0, "") != base);
  CHECK(of("train", "x not in y") != of("train", "x notin y"));
  CHECK(of("train", "total += loss.item()", 0, "kernel_v2") == base);
  CHECK(of("train", "", 0, "gemm") != of("train", "", 0, "sort"));
  CHECK(base.size() == 16);
  // Published reports and baselines hold these: a change breaks them.
  CHECK(base == "ba76e970400c1ded");
}
