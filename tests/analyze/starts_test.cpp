#include "analyze/starts.h"
#include "analyze/repeated_traces.h"

#include <doctest/doctest.h>

using namespace stallscope;

namespace {

struct Taken {
  int32_t rank;
  int64_t pid;
  Ns begin;      ///< of its steps, 100 long each
  size_t steps;  ///< that can be used
  int32_t device = -1;
};

std::vector<RankSummary> ranks_of(const std::vector<Taken>& all, int32_t world_size = 2) {
  std::vector<RankSummary> ranks;
  for (const Taken& taken : all) {
    RankSummary& rank = ranks.emplace_back();
    rank.rank = taken.rank;
    rank.pid = taken.pid;
    rank.device = taken.device;
    rank.world_size = world_size;
    for (size_t i = 0; i <= taken.steps; ++i) {
      Step& step = rank.steps.emplace_back();
      step.host_start = taken.begin + static_cast<Ns>(i) * 100;
      step.host_end = step.host_start + 100;
      step.use = i == taken.steps ? StepUse::last : StepUse::used;
    }
  }
  return ranks;
}

std::vector<int64_t> kept(const std::vector<RankSummary>& ranks) {
  std::vector<int64_t> pids;
  for (const RankSummary& rank : ranks) pids.push_back(rank.pid);
  return pids;
}

}  // namespace

TEST_CASE("ranks that were started again are those of the last start") {
  auto ranks = ranks_of({{0, 10, 0, 4}, {1, 11, 10, 3}, {0, 20, 9000, 5}, {1, 21, 9010, 5}});
  const std::string note = keep_last_start(ranks);
  CHECK(kept(ranks) == std::vector<int64_t>{20, 21});
  CHECK(note.find("started 2 times") != std::string::npos);
  CHECK(note.find("9 steps") != std::string::npos);
}

TEST_CASE("a last start in which a rank took no step is not the one that is kept") {
  auto ranks = ranks_of({{0, 10, 0, 4}, {1, 11, 10, 3}, {0, 20, 9000, 1}, {1, 21, 9010, 0}});
  keep_last_start(ranks);
  CHECK(kept(ranks) == std::vector<int64_t>{10, 11});
}

TEST_CASE("a rank that failed before its first step does not shift the others") {
  auto ranks = ranks_of({{0, 10, 0, 4}, {0, 20, 9000, 5}, {1, 21, 9010, 5}});
  keep_last_start(ranks);
  CHECK(kept(ranks) == std::vector<int64_t>{20, 21});
}

TEST_CASE(
    "processes of a rank that run at once, its devices, and programs without ranks are kept") {
  for (auto ranks : {ranks_of({{0, 10, 0, 4}, {0, 20, 200, 5}, {1, 21, 0, 5}}),
                     ranks_of({{0, 10, 0, 4, 0}, {0, 10, 9000, 4, 1}, {1, 21, 0, 5}}),
                     ranks_of({{-1, 10, 0, 4}, {-1, 20, 9000, 5}}, 0),
                     ranks_of({{0, 10, 0, 4}, {0, 20, 9000, 5}}, 1)}) {
    const auto before = kept(ranks);
    CHECK(keep_last_start(ranks).empty());
    CHECK(kept(ranks) == before);
  }
}

TEST_CASE("one trace in several files counts once") {
  auto ranks =
      ranks_of({{0, 10, 0, 4}, {1, 11, 10, 3}, {0, 10, 0, 4}, {0, 10, 0, 5}, {0, 12, 0, 4}});
  const std::string note = drop_repeated_traces(ranks);
  CHECK(kept(ranks) == std::vector<int64_t>{10, 11, 10, 12});
  CHECK(note == "The inputs hold the same trace more than once (rank 0): each counts once");
  CHECK(drop_repeated_traces(ranks).empty());
  // Of what nothing is known but that it ran, nothing is the same.
  auto silent = ranks_of({{0, 10, 0, 0}, {0, 10, 0, 0}});
  for (RankSummary& rank : silent) rank.steps.clear();
  CHECK(drop_repeated_traces(silent).empty());
}
