// The recorder under faults: nothing committed is lost, nothing of the target breaks.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "collect/collect_support.h"

using namespace stallscope;
using namespace stallscope::test;
namespace fs = std::filesystem;

namespace {

/// A page that a target writes its progress to.
class Progress {
 public:
  explicit Progress(const fs::path& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    REQUIRE(ftruncate(fd, 4096) == 0);
    word_ = static_cast<volatile unsigned*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  ~Progress() { munmap(const_cast<unsigned*>(word_), 4096); }
  unsigned value() const { return *word_; }
  void reset() { *word_ = 0; }

 private:
  volatile unsigned* word_;
};

int kills() {
  const char* wanted = std::getenv("STALLSCOPE_TEST_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 200;
}

}  // namespace

TEST_CASE("SIGKILL at random moments loses no committed record and no open range") {
  const TempFolder folder;
  const std::string progress_path = folder.path() / "progress";
  const int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::mt19937 random(20260711);
  std::uniform_int_distribution<int> microseconds(0, 4000);
  for (int round = 0; round < kills(); ++round) {
    CAPTURE(round);
    fs::create_directory(folder.path() / "run");
    Progress progress(progress_path);
    progress.reset();
    const int pid = start_target({nvtx_target(), "endless", progress_path},
                                 (folder.path() / "run").string(), {}, output);
    while (progress.value() == 0) usleep(100);
    usleep(static_cast<useconds_t>(microseconds(random)));
    kill(pid, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    const unsigned done = progress.value();
    const Recorded recorded = read_folder((folder.path() / "run").string());
    const Trace& trace = recorded.trace;
    CHECK(trace.health.cut_short);
    CHECK(count_named(trace, "outer") == 1);
    // Ranges are numbered from 1: all up to `done` are there, at most one more after it,
    // which was complete, and one that was open.
    std::vector<bool> seen(done + 3);
    size_t items = 0;
    for (EventId id = 0; id < trace.size(); ++id) {
      if (trace.name(id) != "item") continue;
      ++items;
      const unsigned long number =
          std::stoul(std::string(trace.text_field(id, kKeyArgs)).substr(6));
      REQUIRE(number < seen.size());
      CHECK_FALSE(seen[number]);
      seen[number] = true;
    }
    for (unsigned number = 1; number <= done; ++number)
      if (!seen[number]) FAIL_CHECK("lost range " << number << " of " << done);
    CHECK(items <= done + 2);
    fs::remove_all(folder.path() / "run");
  }
  close(output);
}

TEST_CASE("a target that dies of SIGSEGV leaves its events") {
  const TempFolder folder;
  const Finished finished = run_target({nvtx_target(), "segfault", "100"}, folder.path());
  CHECK(finished.signal == SIGSEGV);
  const Recorded recorded = read_folder(folder.path());
  CHECK(count_named(recorded.trace, "work") == 100);
  CHECK(count_named(recorded.trace, "before the fault") == 1);
  CHECK(recorded.trace.health.cut_short);
}

TEST_CASE("no room on disk: the target ends well, lost records are counted") {
  const TempFolder folder;
  const Finished finished = run_target({nvtx_target(), "ranges", "100000"}, folder.path(),
                                       {{"STALLSCOPE_TEST_ROOM_BYTES", "1000000"}});
  CHECK(finished.exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  CHECK(recorded.trace.health.lost_records > 0);
  CHECK(recorded.trace.size() + recorded.trace.health.lost_records == 100000);
  CHECK(recorded.trace.health.bytes_on_disk <= 1000000);
}

TEST_CASE("no room for even the first chunk: the target ends well") {
  for (const char* room : {"0", "1000", "65536", "131072", "200000"}) {
    CAPTURE(room);
    const TempFolder folder;
    const Finished finished = run_target({nvtx_target(), "ranges", "1000"}, folder.path(),
                                         {{"STALLSCOPE_TEST_ROOM_BYTES", room}});
    CHECK(finished.exit_code == 0);
    CHECK(finished.output == "output of the program\n");
  }
}

TEST_CASE("RLIMIT_FSIZE stops the recording, not the target") {
  const TempFolder folder;
  const Finished finished = run_target({nvtx_target(), "file-limit", "100000"}, folder.path());
  CHECK(finished.signal == 0);
  CHECK(finished.exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  CHECK(recorded.trace.health.lost_records > 0);
  CHECK(recorded.trace.size() > 10000);
  CHECK(recorded.trace.size() + recorded.trace.health.lost_records == 100000);
}

TEST_CASE("a folder that is not there or not ours: the target runs as without us") {
  for (const char* out : {"/proc/nowhere", "/nonexistent/folder", "relative", ""}) {
    CAPTURE(out);
    const Finished finished =
        run_target({nvtx_target(), "ranges", "100"}, "/ignored", {{"STALLSCOPE_OUT", out}});
    CHECK(finished.exit_code == 0);
    CHECK(finished.output == "output of the program\n");
  }
}

TEST_CASE("forked children that end by _exit write files of their own") {
  const TempFolder folder;
  CHECK(run_target({nvtx_target(), "children", "20"}, folder.path()).exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  CHECK(recorded.segments.size() == 21);
  CHECK(count_named(recorded.trace, "in parent") == 1);
  CHECK(count_named(recorded.trace, "in child") == 20);
  CHECK(count_named(recorded.trace, "left open in child") == 20);
  int forked = 0;
  for (const SegmentContents& segment : recorded.segments) forked += segment.header.forked;
  CHECK(forked == 20);
}

TEST_CASE("a program that replaces itself is not taken for a killed one") {
  const TempFolder folder;
  CHECK(run_target({nvtx_target(), "exec"}, folder.path()).exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  CHECK(recorded.segments.size() == 2);
  CHECK(count_named(recorded.trace, "work") == 8);
  CHECK_FALSE(recorded.trace.health.cut_short);
}

TEST_CASE("a thousand short threads share chunks") {
  const TempFolder folder;
  CHECK(run_target({nvtx_target(), "threads", "1000"}, folder.path()).exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  CHECK(count_named(recorded.trace, "in thread") == 1000);
  CHECK(recorded.trace.health.lost_records == 0);
  // A chunk for each would be 64 MB. A thread takes its own where another holds the lock for long,
  // which happens where they share a busy core.
  CHECK(recorded.chunk_bytes < (32 << 20));
}

TEST_CASE("a target that closes all descriptors keeps its own files intact") {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  run_target({nvtx_target(), "close-all", "200000"}, folder.path());
  fs::current_path(before);
  const Recorded recorded = read_folder(folder.path());
  CHECK(recorded.trace.size() == 200010);
  std::ifstream own(folder.path() / "own-file");
  std::string content((std::istreambuf_iterator<char>(own)), std::istreambuf_iterator<char>());
  CHECK(content == "mine");
}

TEST_CASE("ranges nested beyond all measure are counted as lost, the rest is right") {
  const TempFolder folder;
  CHECK(run_target({nvtx_target(), "deep", "2000"}, folder.path()).exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  CHECK(count_named(recorded.trace, "work") == 10);
  CHECK(count_named(recorded.trace, "level") + recorded.trace.health.lost_records == 2000);
}

TEST_CASE("beyond the size limit the oldest events go, and the reader says so") {
  const TempFolder folder;
  CHECK(run_target({nvtx_target(), "unique", "200000"}, folder.path(),
                   {{"STALLSCOPE_MAX_BYTES", "2000000"}})
            .exit_code == 0);
  const Recorded recorded = read_folder(folder.path());
  const Trace& trace = recorded.trace;
  CHECK(trace.health.bytes_on_disk <= 2000000);
  CHECK(trace.health.lost_records == 0);
  CHECK(trace.health.discarded_oldest > 0);
  CHECK(trace.health.holes.size() == 1);
  CHECK(count_named(trace, "aten::mul, op_id = 199999") == 1);
  CHECK(count_named(trace, "aten::mul, op_id = 200") == 0);
}

TEST_CASE("the target's output is the same with and without recording") {
  const TempFolder folder;
  const Finished with = run_target({nvtx_target(), "every-call"}, folder.path());
  const Finished without = run_target({nvtx_target(), "every-call"}, "");
  CHECK(with.output == without.output);
  CHECK(with.exit_code == without.exit_code);
}
