// The wait table, queue depth, clock alignment and the check of the collectives' order.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "analyze/align_clocks.h"
#include "analyze/analyze.h"
#include "analyze/late_ranks.h"
#include "analyze/rank_groups.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

RankSummary only_rank(const std::string& text) {
  const auto trace = read_event_lines(text, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  auto summaries = analyze_trace(*trace);
  REQUIRE(summaries.size() == 1);
  return std::move(summaries[0]);
}

std::map<std::string, Ns> by_cause(const RankSummary& rank) {
  std::map<std::string, Ns> sums;
  for (const WaitShare& wait : rank.waits) sums[wait.cause] += wait.per_step;
  return sums;
}

// A step of 100 us: a kernel, host work of 20 us before the next launch, whose kernel starts 5 us
// after its call began; a synchronisation; and a kernel on another stream that a kernel waits for.
constexpr const char* kStep = R"({"repeat":8,"everyNs":100000}
{"name":"step","startNs":0,"durationNs":99000}
{"kind":"api","name":"cudaLaunchKernel","startNs":1000,"durationNs":2000,"correlation":1,"stack":["train.py:3 step"]}
{"kind":"kernel","name":"a","startNs":6000,"durationNs":10000,"correlation":1,"stream":7}
{"kind":"range","name":"tokenize","startNs":4000,"durationNs":31000}
{"kind":"api","name":"cudaLaunchKernel","startNs":36000,"durationNs":2000,"correlation":2,"stack":["train.py:4 step"]}
{"kind":"kernel","name":"b","startNs":41000,"durationNs":10000,"correlation":2,"stream":7}
{"kind":"api","name":"cudaLaunchKernel","startNs":39000,"durationNs":1000,"correlation":3,"stack":["train.py:5 step"]}
{"kind":"kernel","name":"c","startNs":60000,"durationNs":10000,"correlation":3,"stream":8}
{"kind":"api","name":"cudaStreamSynchronize","startNs":45000,"durationNs":26000,"correlation":4,"stack":["train.py:6 step"]}
{"end":true}
)";

RankSummary with_collectives(int32_t rank, Ns clock, const std::vector<std::string>& operations) {
  RankSummary summary;
  summary.rank = rank;
  int64_t sequence = 0;
  for (const std::string& operation : operations) {
    const Ns end = 1'000'000 * sequence + clock + (sequence % 3) * 100;
    summary.collectives[{"world", sequence++}] = {500, rank, 500, 1, 0, operation, end};
  }
  return summary;
}

}  // namespace

TEST_CASE("waits name who kept the device from computing, and sum to all of it") {
  const RankSummary rank = only_rank(kStep);
  const auto sums = by_cause(rank);
  CHECK(sums.at("host-work") == 20'000);
  CHECK(sums.at("stream-dependency") > 0);
  CHECK(sums.at("launch-latency") >= 5'000);
  CHECK(sums.at("host-sync") > 0);
  const Ns all = std::accumulate(rank.waits.begin(), rank.waits.end(), Ns{0},
                                 [](Ns sum, const WaitShare& w) { return sum + w.per_step; });
  const Ns expected = rank.mean_breakdown.total() - rank.mean_breakdown[StepClass::compute];
  CHECK(std::abs(all - expected) <= static_cast<Ns>(rank.waits.size()));
  const auto work = std::ranges::find(rank.waits, "host-work", &WaitShare::cause);
  CHECK(work->subject == "tokenize");
  const auto sync = std::ranges::find(rank.waits, "host-sync", &WaitShare::cause);
  CHECK(sync->subject == "cudaStreamSynchronize");
  CHECK(sync->place.line == 6);
  const auto dependency = std::ranges::find(rank.waits, "stream-dependency", &WaitShare::cause);
  CHECK(dependency->subject == "c");
  CHECK(dependency->place.line == 5);
}

TEST_CASE("kernel time is known by operator and by line") {
  const RankSummary rank = only_rank(R"({"repeat":8,"everyNs":100000}
{"name":"step","startNs":0,"durationNs":99000}
{"kind":"range","detail":"op","name":"aten::mm","startNs":500,"durationNs":9000,"stack":["train.py:3 step"]}
{"kind":"api","name":"cudaLaunchKernel","startNs":1000,"durationNs":2000,"correlation":1,"stack":["train.py:3 step"]}
{"kind":"kernel","name":"a","startNs":6000,"durationNs":10000,"correlation":1,"stream":7}
{"kind":"api","name":"cudaLaunchKernel","startNs":36000,"durationNs":2000,"correlation":2,"stack":["train.py:3 step"]}
{"kind":"kernel","name":"b","startNs":41000,"durationNs":20000,"correlation":2,"stream":7}
{"end":true}
)");
  REQUIRE(rank.kernels_by_line.size() == 1);
  CHECK(rank.kernels_by_line[0].place.line == 3);
  CHECK(rank.kernels_by_line[0].count == 16);
  CHECK(rank.kernels_by_line[0].total == 8 * 30'000);
}

TEST_CASE("the queue is as deep as the work that was launched and has not ended") {
  const RankSummary rank = only_rank(
      R"({"kind":"api","name":"cudaLaunchKernel","startNs":0,"durationNs":10,"correlation":1}
{"kind":"api","name":"cudaLaunchKernel","startNs":100,"durationNs":10,"correlation":2}
{"kind":"kernel","name":"k","startNs":50,"durationNs":150,"correlation":1,"stream":7}
{"kind":"kernel","name":"k","startNs":200,"durationNs":200,"correlation":2,"stream":7}
)");
  CHECK(rank.queue.maximum == 2);
  // One from 0 to 100, two to 200, one to 400.
  CHECK(rank.queue.mean == doctest::Approx(500.0 / 400.0));
  CHECK(rank.queue.start == 0);
  REQUIRE(rank.queue.depth.size() * static_cast<size_t>(rank.queue.bucket) >= 400);
  double area = 0;
  for (const double depth : rank.queue.depth)
    area += depth * static_cast<double>(rank.queue.bucket);
  CHECK(area == doctest::Approx(500));
}

TEST_CASE("clocks are aligned by the ends of common collectives, with what remains") {
  const std::vector<std::string> all(10, "all-reduce");
  RankSummary noisy = with_collectives(2, -7'000'000, all);
  noisy.collectives[{"world", 4}].end += 50'000;  // one outlier moves no median
  const RunSummary run =
      merge_ranks({with_collectives(0, 0, all), with_collectives(1, 3'000'000, all), noisy});
  CHECK(run.ranks[0].clock_offset == 0);
  CHECK(run.ranks[1].clock_offset == 3'000'000);
  CHECK(run.ranks[2].clock_offset == -7'000'000);
  CHECK(run.clocks.ranks == 3);
  CHECK(run.clocks.collectives == 20);
  CHECK(run.clocks.residual == 50'000);
  CHECK(merge_ranks({with_collectives(0, 0, all)}).clocks.residual == -1);
}

TEST_CASE("ranks that run different collectives are told with the place") {
  const std::vector<std::string> good = {"all-reduce", "broadcast", "all-reduce", "barrier"};
  auto swapped = good;
  std::swap(swapped[1], swapped[2]);
  const auto faults = [](const std::vector<RankSummary>& ranks) {
    return collective_order_faults(merge_ranks(ranks));
  };
  CHECK(faults({with_collectives(0, 0, good), with_collectives(1, 5, good)}).empty());
  const auto order = faults({with_collectives(0, 0, good), with_collectives(1, 5, swapped)});
  REQUIRE(order.size() == 1);
  CHECK(order[0].find("number 1 of group 'world' rank 0 ran broadcast and rank 1 all-reduce") !=
        std::string::npos);
  RankSummary missing = with_collectives(1, 5, good);
  missing.collectives.erase({"world", 2});
  CHECK(faults({with_collectives(0, 0, good), missing}).size() == 1);
  // A capture that ends earlier is no fault.
  RankSummary shorter = with_collectives(1, 5, good);
  shorter.collectives.erase({"world", 3});
  CHECK(faults({with_collectives(0, 0, good), shorter}).empty());
  // Collectives without numbers are counted by step: a step that one rank recorded in part is none.
  const auto counted = [](int32_t rank, uint32_t partial, StepUse use) {
    RankSummary summary;
    summary.rank = rank;
    for (uint32_t step = 0; step < 4; ++step) {
      summary.steps.push_back({.index = step, .use = step == partial ? use : StepUse::used});
      for (int64_t i = 0; i < 3; ++i)
        if (step != partial || i > 0)
          summary.collectives[{"world/all-reduce", step * 1'000'000 + i}] = {
              5, rank, 5, 1, step, "all-reduce", step * 1000 + i * 10};
    }
    return summary;
  };
  CHECK(faults({counted(0, 9, StepUse::used), counted(1, 2, StepUse::hole)}).empty());
  CHECK(faults({counted(0, 9, StepUse::used), counted(1, 2, StepUse::used)}).size() == 1);
}

namespace {

// A rank's collectives in groups: `ends(i)` is when the i-th ends, of `took(i)`.
RankSummary in_group(int32_t rank, int32_t world, const std::string& name, int64_t size, Ns clock,
                     const std::function<Ns(int)>& ends, const std::function<Ns(int)>& took) {
  RankSummary summary;
  summary.rank = rank;
  summary.pid = rank;
  summary.world_size = world;
  Observation row;
  row.kind = "collective";
  row.subject = "all-reduce";
  row.texts["group"] = name;
  row.numbers["world_size"] = static_cast<double>(size);
  summary.observations.push_back(row);
  for (int i = 0; i < 12; ++i) {
    const Ns duration = took(i);
    summary.collectives[{name, i}] = {
        duration, rank, duration, 1, static_cast<uint32_t>(i), "all-reduce", ends(i) + clock};
  }
  return summary;
}

Ns jitter(int i, int group) {
  return 10'000'000 * i + (i * 7919 + group * 104'729) % 400'000 * group;
}

std::vector<std::string> labels(const RunSummary& run) {
  std::vector<std::string> found;
  const RankGroups groups(run.ranks);
  for (const RankGroups::Group& group : groups.all()) {
    std::vector<int32_t> ranks;
    for (const RankGroups::Member& member : group.members)
      ranks.push_back(groups.rank(member).rank);
    found.push_back(group.label + " = " + ranks_text(ranks));
  }
  return found;
}

}  // namespace

TEST_CASE("one name for two groups: those whose collectives end together belong together") {
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < 8; ++rank)
    ranks.push_back(in_group(
        rank, 8, "tp", 4, 1'000'000 * rank, [&](int i) { return jitter(i, 1 + rank % 2) + rank; },
        [](int) { return Ns{500}; }));
  const RunSummary run = merge_ranks(ranks);
  CHECK(labels(run) == std::vector<std::string>{"tp: ranks 0, 2, 4 and 6 = ranks 0, 2, 4 and 6",
                                                "tp: ranks 1, 3, 5 and 7 = ranks 1, 3, 5 and 7"});
  CHECK(run.collectives.size() == 24);
  CHECK(run.collectives.at({"tp: ranks 1, 3, 5 and 7", 3}).ranks == 4);
  CHECK(collective_order_faults(run).empty());
}

TEST_CASE("one group under two names is one group") {
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.push_back(in_group(
        rank, 4, "comm-" + std::to_string(rank), 2, 0,
        [&](int i) { return jitter(i, 1 + rank / 2); }, [](int) { return Ns{500}; }));
  const RunSummary run = merge_ranks(ranks);
  CHECK(labels(run) ==
        std::vector<std::string>{"comm-0 = ranks 0 and 1", "comm-2 = ranks 2 and 3"});
  CHECK(run.collectives.at({"comm-2", 5}).ranks == 2);
}

TEST_CASE("clocks are aligned from rank to rank where no group holds all") {
  const auto took = [](int) { return Ns{500}; };
  RankSummary middle = in_group(1, 3, "a", 2, 2'000, [](int i) { return jitter(i, 1); }, took);
  const RankSummary second =
      in_group(1, 3, "b", 2, 2'000, [](int i) { return jitter(i, 2); }, took);
  middle.collectives.insert(second.collectives.begin(), second.collectives.end());
  middle.observations.push_back(second.observations[0]);
  const RunSummary run = merge_ranks(
      {in_group(
           0, 3, "a", 2, 0, [](int i) { return jitter(i, 1); }, took),
       middle, in_group(2, 3, "b", 2, -5'000, [](int i) { return jitter(i, 2); }, took)});
  CHECK(run.clocks.ranks == 3);
  CHECK(run.ranks[1].clock_offset == 2'000);
  CHECK(run.ranks[2].clock_offset == -5'000);
}

TEST_CASE("ranks that come late together are named as a link") {
  const auto run_with_late = [](const std::vector<int>& late, int ranks) {
    std::vector<RankSummary> all;
    for (int rank = 0; rank < ranks; ++rank) {
      const bool is_late = std::ranges::find(late, rank) != late.end();
      all.push_back(in_group(
          rank, ranks, "world", ranks, 0, [](int i) { return jitter(i, 1); },
          [&](int i) { return Ns{is_late ? 100'000 : 400'000} + (i * 31 + rank * 17) % 5'000; }));
    }
    return merge_ranks(all);
  };
  const RunSummary run = run_with_late({3, 4}, 8);
  const auto wait = std::ranges::find(run.cross_rank, "collective-wait", &Observation::kind);
  REQUIRE(wait != run.cross_rank.end());
  CHECK(wait->texts.at("late_ranks") == "3, 4");
  CHECK(wait->numbers.at("late_count") == 2);
  CHECK(wait->numbers.at("late_share") == 1);
  CHECK(wait->cause == "ranks 3 and 4, which arrive last together");
  // One late rank is no link; and where half of the ranks are late, nobody can say who is.
  for (const auto& late : {std::vector<int>{5}, {0, 1, 2, 3}}) {
    const RunSummary other = run_with_late(late, 8);
    const auto row = std::ranges::find(other.cross_rank, "collective-wait", &Observation::kind);
    REQUIRE(row != other.cross_rank.end());
    CHECK(row->numbers.at("late_count") == 1);
    CHECK_FALSE(row->texts.contains("late_ranks"));
  }
}

TEST_CASE("a group whose messages take longer than its sisters' is a slow link") {
  const auto run_with_slow_pair = [](int slow, Ns extra) {
    std::vector<RankSummary> all;
    for (int rank = 0; rank < 8; ++rank)
      all.push_back(in_group(
          rank, 8, "pair " + std::to_string(rank / 2), 2, 0,
          [&](int i) { return jitter(i, 1 + rank / 2); },
          [&](int i) {
            return 100'000 + (rank / 2 == slow ? extra : 0) + i * 100 + rank % 2 * 9'000;
          }));
    return merge_ranks(all);
  };
  const auto links = [](const RunSummary& run) {
    return std::ranges::count(run.cross_rank, "slow-link", &Observation::kind);
  };
  const RunSummary run = run_with_slow_pair(2, 80'000);
  REQUIRE(links(run) == 1);
  const Observation& link = *std::ranges::find(run.cross_rank, "slow-link", &Observation::kind);
  CHECK(link.cause == "the link between ranks 4 and 5");
  CHECK(link.texts.at("late_ranks") == "4, 5");
  CHECK(link.numbers.at("message_ns") - link.numbers.at("usual_ns") == doctest::Approx(80'000));
  CHECK(links(run_with_slow_pair(2, 5'000)) == 0);
  CHECK(links(run_with_slow_pair(9, 0)) == 0);
}
