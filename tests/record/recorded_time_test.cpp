#include "record/recorded_time.h"

#include <doctest/doctest.h>

#include <string>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "record/clock.h"
#include "trace/segment_format.h"

using namespace stallscope;

namespace {

void write_segment(const TemporaryFolder& folder, const char* name, bool paused,
                   segment::State state = segment::State::open) {
  segment::FileHeader header = {};
  header.magic = segment::kMagic;
  header.state = state;
  header.paused = paused ? 1 : 0;
  std::string content(segment::kHeaderBytes, '\0');
  content.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  REQUIRE(write_file(folder.path() + "/" + name, content).ok());
}

}  // namespace

TEST_CASE("without segments the time of the run decides") {
  const TemporaryFolder folder("recorded-time");
  RecordedTime time(folder.path(), {.delay = 10 * kSecond, .duration = 5 * kSecond});
  const Ns start = clock_now(CLOCK_MONOTONIC);
  time.find_segments({1, 2});
  for (const auto& [after, holds] :
       {std::pair<Ns, bool>{0, false}, {9, false}, {12, true}, {16, false}}) {
    time.look(start + after * kSecond);
    CHECK(time.holds(1) == holds);
  }
}

TEST_CASE("what a process says of itself holds, and for those that say nothing") {
  const TemporaryFolder folder("recorded-time");
  write_segment(folder, "1.ssg", true);
  write_segment(folder, "2.ssg", true, segment::State::execed);
  RecordedTime time(folder.path(), {.by_program = true});
  const auto look = [&] {
    for (int i = 0; i < 2; ++i) time.find_segments({1, 2, 3});
    time.look(clock_now(CLOCK_MONOTONIC));
  };
  look();
  CHECK_FALSE(time.holds(1));
  CHECK_FALSE(time.holds(3));
  write_segment(folder, "2-1.ssg", false);
  look();
  CHECK_FALSE(time.holds(1));
  CHECK(time.holds(2));
  CHECK(time.holds(3));
}

TEST_CASE("everything is recorded when nothing else was asked for") {
  const TemporaryFolder folder("recorded-time");
  write_segment(folder, "1.ssg", true);
  RecordedTime time(folder.path(), {});
  time.find_segments({1});
  time.look(clock_now(CLOCK_MONOTONIC));
  CHECK(time.holds(1));
}
