// What --annotate leaves behind, and what the machine says of a process.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "record/annotations.h"
#include "record/nvml.h"
#include "record/process_usage.h"
#include "trace/slowdown_reasons.h"

using namespace stallscope;
namespace fs = std::filesystem;

TEST_CASE("files of marked processes are summed and taken away") {
  const fs::path folder = fs::temp_directory_path() / ("annotated-" + std::to_string(getpid()));
  fs::create_directories(folder);
  REQUIRE(write_file((folder / "1.annotated").string(),
                     "announcements 5\nmarked backward\nmarked gc\nleft-out x (why)\nrank 1 2\n"
                     "setting torch.cudnn_benchmark 1\n"));
  REQUIRE(write_file((folder / "2.annotated").string(),
                     "announcements 7\nmarked gc\nrank 2 2\nrank -1 3\nrank 1\nrank\n\x01\nbad\n"
                     "setting torch.cudnn_benchmark 0\nsetting torch.other\nsetting a b c\n"));
  REQUIRE(write_file((folder / "1.ssg").string(), ""));
  const Annotations annotations = take_annotations(folder.string());
  CHECK(annotations.processes == 2);
  CHECK(annotations.announcements == 12);
  CHECK(annotations.marked == std::vector<std::string>{"backward", "gc"});
  CHECK(annotations.left_out == std::vector<std::string>{"x (why)"});
  REQUIRE(annotations.ranks.size() == 1);
  CHECK(annotations.ranks[0].pid == 1);
  CHECK(annotations.ranks[0].rank == 1);
  CHECK(annotations.ranks[0].world_size == 2);
  // What has no value is left out.
  CHECK(annotations.settings ==
        std::map<std::string, std::string>{{"torch.cudnn_benchmark", "mixed"}, {"a", "b c"}});
  CHECK(fs::exists(folder / "1.ssg"));
  CHECK_FALSE(fs::exists(folder / "1.annotated"));
  fs::remove_all(folder);
}

TEST_CASE("throttling is read in both versions of control groups") {
  struct Case {
    const char* text;
    bool known;
    uint64_t periods;
    Ns time;
  };
  const Case cases[] = {
      {"usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n", true, 3, 1'500'000},
      {"nr_periods 9\nnr_throttled 2\nthrottled_time 1500\n", true, 2, 1500},
      {"usage_usec 5\nuser_usec 3\n", false, 0, 0},
      {"", false, 0, 0},
      {"nr_throttled", false, 0, 0},
      {"nr_throttled \xff\n", true, 0, 0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    const auto throttling = parse_throttling(each.text);
    REQUIRE(throttling.has_value() == each.known);
    if (!each.known) continue;
    CHECK(throttling->periods == each.periods);
    CHECK(throttling->time == each.time);
  }
}

TEST_CASE("a stopped process is seen, and its CPU time") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  const auto usage = process_usage(child);
  REQUIRE(usage);
  CHECK(usage->stopped);
  ::kill(child, SIGCONT);
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_FALSE(process_usage(child));
  REQUIRE(process_usage(getpid()));
  CHECK_FALSE(process_usage(getpid())->stopped);
  CHECK(machine_usage().busy > 0);
}

TEST_CASE("only reasons that slow a GPU against its will are named") {
  CHECK(slowdown_reasons(0).empty());
  CHECK(slowdown_reasons(0x1 | 0x2).empty());  // idle, chosen clocks
  CHECK(slowdown_reasons(0x4) == "power cap");
  CHECK(slowdown_reasons(0x20 | 0x80) == "thermal slowdown, power brake");
}

TEST_CASE("a process numbers the GPUs that it sees") {
  const std::vector<std::string> uuids = {"GPU-aa11", "GPU-bb22", "GPU-cc33", ""};
  struct Case {
    const char* devices;
    std::vector<size_t> gpus;
  };
  const Case cases[] = {{"0,1,2,3", {0, 1, 2, 3}},
                        {"2", {2}},
                        {"3,1", {3, 1}},
                        {"", {}},
                        {"-1", {}},
                        {"1,-1,2", {1}},
                        {"1,9,2", {1}},
                        {"GPU-cc,0", {2, 0}},
                        {"GPU-xx", {}},
                        // A part of a GPU: what NVML says of the whole is not said of it.
                        {"MIG-GPU-aa11/1/0", {}},
                        {"MIG-aa11bb22", {}},
                        {"1x", {}}};
  for (const Case& each : cases) {
    CAPTURE(each.devices);
    CHECK(visible_gpus(each.devices, uuids) == each.gpus);
  }
}
