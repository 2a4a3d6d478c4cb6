// The writer in this process: every kind of event there and back, and threads.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "collect/clock.h"
#include "collect/collect_support.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/range.h"
#include "collect/session.h"
#include "collect/settings.h"

using namespace stallscope;
using namespace stallscope::test;
namespace rec = stallscope::collect;

// The first race ends the child that it happens in, so that its test fails.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1";
}

namespace {

// A disk on which making a file takes its time, for threads that come while a recording starts.
bool g_slow_to_create = false;

}  // namespace

// The recorder takes room on disk through this one, not the C library's.
extern "C" int fallocate(int fd, int mode, off_t offset, off_t length) noexcept;
extern "C" int fallocate(int fd, int mode, off_t offset, off_t length) noexcept {
  if (g_slow_to_create && offset == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return static_cast<int>(syscall(SYS_fallocate, fd, mode, offset, length));
}

namespace {

// One folder for the process: the library reads its settings once.
const TempFolder& folder() {
  static const TempFolder* made = [] {
    auto* it = new TempFolder;
    setenv(settings::kOut, it->path().c_str(), 1);
    setenv(settings::kClock, "monotonic", 1);  // ticks are nanoseconds: times come back exactly
    atexit([] { std::filesystem::remove_all(getenv(settings::kOut)); });
    return it;
  }();
  return *made;
}

// Runs `body` in a forked child, whose recording is a file of its own, and reads it.
template <typename Body>
Recorded record_in_child(Body body) {
  REQUIRE(!folder().path().empty());
  REQUIRE(rec::prepare());
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    rec::close_session();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  Recorded recorded = read_folder(folder().path());
  for (const auto& entry : std::filesystem::directory_iterator(folder().path()))
    std::filesystem::remove(entry.path());
  return recorded;
}

struct ExpectedField {
  Key key = kKeyNone;
  bool is_text = false;
  int64_t value = 0;  ///< of a text: which word
};

struct Expected {
  EventKind kind = EventKind::marker;
  uint8_t detail = 0;
  uint64_t start = 0, duration = 0;
  uint32_t correlation = 0;
  std::string name;
  std::vector<ExpectedField> fields;
  int32_t device = -1;  ///< -1: on the thread's track
  int64_t stream = 0;
};

Expected random_event(std::mt19937_64& random, EventKind kind, uint64_t index) {
  Expected event;
  event.kind = kind;
  event.detail = static_cast<uint8_t>(random() % 5);
  // The index makes each event's start unique, so that events can be matched.
  event.start = 1'000'000'000 + index * 1000;
  event.duration = random() % 8 == 0 ? random() % (1ULL << 40) : random() % 100'000;
  event.correlation = static_cast<uint32_t>(random());
  event.name = "name " + std::to_string(random() % 300);
  if (random() % 2 == 0) {
    event.device = static_cast<int32_t>(random() % 4);
    event.stream = static_cast<int64_t>(random() % 5 == 0 ? random() >> 1 : random() % 8);
  }
  for (uint32_t key = kKeyBytes; key < kKeyCount_ && event.fields.size() < 16; ++key) {
    if (random() % 6 != 0) continue;
    const auto wide = static_cast<int64_t>(random());
    const auto small = static_cast<int64_t>(random() % 2000) - 1000;
    switch (random() % 3) {
      case 0:
        event.fields.push_back({static_cast<Key>(key), false, wide});
        break;
      case 1:
        event.fields.push_back({static_cast<Key>(key), false, small});
        break;
      default:
        event.fields.push_back({static_cast<Key>(key), true, wide & 31});
    }
  }
  return event;
}

std::string field_word(int64_t number) {
  return "text " + std::to_string(number);
}

uint32_t intern(const std::string& text) {
  return rec::intern(text.data(), text.size());
}

void write(const Expected& event) {
  rec::EventRecord record(event.kind, event.detail);
  record.name = intern(event.name);
  record.correlation = event.correlation;
  record.set_ticks(event.start, event.start + event.duration);
  if (event.device >= 0)
    record.lane = rec::lane_number(event.device, 0, static_cast<uint64_t>(event.stream));
  for (const ExpectedField& field : event.fields) {
    if (field.is_text)
      record.add_text(field.key, intern(field_word(field.value)));
    else
      record.add(field.key, field.value);
  }
  record.write();
}

void check(const Trace& trace, EventId id, const Expected& expected) {
  const Event event = trace.event(id);
  CHECK(event.kind == expected.kind);
  CHECK(event.detail == expected.detail);
  CHECK(event.duration == static_cast<Ns>(expected.duration));
  CHECK(event.correlation == expected.correlation);
  CHECK(trace.full_name(id) == expected.name);
  const Track& track = trace.tracks[event.track];
  CHECK((track.kind == TrackKind::stream) == (expected.device >= 0));
  if (expected.device >= 0) {
    CHECK(track.device == expected.device);
    CHECK(track.id == expected.stream);
  }
  CHECK(trace.payload(event.payload).size() == expected.fields.size());
  for (const ExpectedField& field : expected.fields) {
    const Field* found = trace.field(id, field.key);
    REQUIRE(found != nullptr);
    if (field.is_text)
      CHECK(trace.text(found->text) == field_word(field.value));
    else
      CHECK(found->integer == field.value);
  }
}

}  // namespace

TEST_CASE("every kind of event comes back as it was written") {
  for (int kind = 0; kind < kEventKinds; ++kind) {
    CAPTURE(kind);
    std::mt19937_64 random(static_cast<uint64_t>(kind) + 1);
    std::vector<Expected> expected;
    for (uint64_t i = 0; i < 400; ++i)
      expected.push_back(random_event(random, static_cast<EventKind>(kind), i));
    const Recorded recorded = record_in_child([&] {
      for (const Expected& event : expected) write(event);
    });
    const Trace& trace = recorded.trace;
    REQUIRE(trace.size() == expected.size());
    std::map<Ns, EventId> by_start;
    for (EventId id = 0; id < trace.size(); ++id) by_start[trace.starts()[id]] = id;
    for (const Expected& event : expected) {
      const auto found = by_start.find(static_cast<Ns>(event.start));
      REQUIRE(found != by_start.end());
      check(trace, found->second, event);
    }
  }
}

TEST_CASE("device times in CLOCK_REALTIME come back on the monotonic clock") {
  const Recorded recorded = record_in_child([] {
    rec::mark({});  // the file is made now, not between the two readings
    rec::EventRecord device(EventKind::kernel, 0);
    const auto now = static_cast<uint64_t>(rec::clock_ns(CLOCK_REALTIME));
    device.set_realtime(now, now + 123);
    device.write();
    rec::EventRecord host(EventKind::kernel, 0);
    host.set_ticks(rec::ticks(), rec::ticks());
    host.write();
  });
  REQUIRE(recorded.trace.size() == 3);
  const Ns apart = recorded.trace.starts()[2] - recorded.trace.starts()[1];
  CHECK(std::abs(apart) < 60'000'000'000);  // a CLOCK_REALTIME taken for monotonic is years off
  // Where the two clocks are read a moment apart, the one may come before the other.
  CHECK(std::ranges::count(recorded.trace.durations(), 123) == 1);
}

TEST_CASE("names come back whole, however they were split") {
  std::vector<std::string> names = {
      "plain", "layer.12", "a, b", "f, x = 1, y = 2", ", = ", "123", "", " ", "\xff\xfe"};
  for (int i = 0; i < 300; ++i) {
    names.push_back("layer." + std::to_string(i));
    names.push_back("aten::op, op_id = " + std::to_string(i) + ", seq = " + std::to_string(i * 7));
    names.push_back("ProfilerStep#" + std::to_string(i));
  }
  names.push_back(std::string(3000, 'x'));
  const Recorded recorded = record_in_child([&] {
    for (const std::string& name : names) {
      rec::RangeText what;
      what.text = rec::resolve(name.data(), name.size());
      rec::begin_range(what);
      rec::end_range(0, nullptr);
    }
  });
  REQUIRE(recorded.trace.size() == names.size());
  for (EventId id = 0; id < recorded.trace.size(); ++id)
    CHECK(recorded.trace.full_name(id) == names[id]);
}

TEST_CASE("in steady state a range takes no lock and maps nothing") {
  // 500 ranges fit in what is left of a chunk that is a quarter full. The
  // helper thread may take a lock meanwhile: of forty tries one must be clean.
  record_in_child([] {
    rec::RangeText what;
    const auto ranges = [&](int count) {
      for (int i = 0; i < count; ++i) {
        what.text = rec::resolve("forward pass", 12);
        rec::begin_range(what);
        rec::end_range(0, nullptr);
      }
    };
    const auto locks = [] { return __atomic_load_n(&rec::g_locks_taken, __ATOMIC_RELAXED); };
    const auto maps = [] { return __atomic_load_n(&rec::g_maps_made, __ATOMIC_RELAXED); };
    ranges(500);
    bool clean = false;
    for (int attempt = 0; attempt < 40 && !clean; ++attempt) {
      const uint64_t before = locks() + maps();
      ranges(500);
      clean = locks() + maps() == before;
    }
    if (!clean) _exit(1);
    // Over many chunks: a handful of locks for each, by the thread and its helper.
    constexpr int kMany = 100'000;
    const uint64_t before = locks();
    ranges(kMany);
    const uint64_t chunks = kMany * 2 * segment::kUnit / segment::kChunkBytes;
    if (locks() - before > 16 * (chunks + 1)) _exit(1);
  });
}

TEST_CASE("threads that come while the recording starts wait for it") {
  constexpr int kThreads = 6;
  const Recorded recorded = record_in_child([] {
    g_slow_to_create = true;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([] {
        rec::RangeText what;
        what.text = rec::resolve("first", 5);
        rec::begin_range(what);
        rec::end_range(0, nullptr);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  CHECK(recorded.trace.health.lost_records == 0);
  CHECK(count_named(recorded.trace, "first") == kThreads);
}

TEST_CASE("threads write at once without losing or mixing events") {
  constexpr int kThreads = 4, kRanges = 5000;
  const Recorded recorded = record_in_child([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kRanges; ++i) {
          const std::string name = "thread " + std::to_string(t) + ", i = " + std::to_string(i);
          rec::RangeText what;
          what.text = rec::resolve(name.data(), name.size());
          rec::begin_range(what);
          what.text = rec::resolve("started", 7);
          rec::end_started_range(rec::start_range(what), nullptr);
          rec::end_range(0, nullptr);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const Trace& trace = recorded.trace;
  CHECK(trace.size() == 2 * kThreads * kRanges);
  CHECK(trace.health.lost_records == 0);
  CHECK(count_named(trace, "started") == kThreads * kRanges);
  for (const auto& [what, times] : trace.health.repairs) FAIL_CHECK(what, ": ", times);
  std::set<std::string> seen;
  for (EventId id = 0; id < trace.size(); ++id) seen.insert(trace.full_name(id));
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kRanges; ++i) {
      const std::string name = "thread " + std::to_string(t) + ", i = " + std::to_string(i);
      if (!seen.contains(name)) FAIL_CHECK("lost: ", name);
    }
  }
  // Each thread's ranges lie on one track, in order.
  std::map<std::string, TrackId> tracks;
  for (EventId id = 0; id < trace.size(); ++id) {
    const std::string stem(trace.name(id));
    if (stem == "started") continue;
    const auto [it, added] = tracks.emplace(stem, trace.event(id).track);
    CHECK(it->second == trace.event(id).track);
  }
  CHECK(tracks.size() == kThreads);
}
