#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "analyze/analyze.h"
#include "analyze/summary_json.h"
#include "random_trace.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

// Eight steps with an all-reduce that ends at 800 on every rank; a rank's own kernel runs until
// it arrives.
RankSummary rank_that_arrives(int rank, int ranks, Ns arrival) {
  const std::string text =
      "{\"kind\":\"process\",\"pid\":" + std::to_string(100 + rank) +
      ",\"rank\":" + std::to_string(rank) + ",\"worldSize\":" + std::to_string(ranks) +
      "}\n{\"repeat\":8,\"everyNs\":1000}\n{\"name\":\"step\",\"startNs\":0,\"durationNs\":900"
      ",\"pid\":" +
      std::to_string(100 + rank) +
      "}\n"
      "{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startNs\":10,\"durationNs\":5,"
      "\"correlation\":1,\"pid\":" +
      std::to_string(100 + rank) +
      "}\n"
      "{\"kind\":\"kernel\",\"name\":\"gemm\",\"startNs\":20,\"durationNs\":" +
      std::to_string(arrival - 20) + ",\"correlation\":1,\"pid\":" + std::to_string(100 + rank) +
      "}\n"
      "{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startNs\":30,\"durationNs\":5,"
      "\"correlation\":2,\"pid\":" +
      std::to_string(100 + rank) +
      ",\"stack\":[\"train.py:9 step\"]}\n"
      "{\"kind\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32\",\"startNs\":" +
      std::to_string(arrival) + ",\"durationNs\":" + std::to_string(800 - arrival) +
      ",\"correlation\":2,\"group\":\"world\",\"sequence\":1,\"bytes\":4096,\"pid\":" +
      std::to_string(100 + rank) + "}\n{\"end\":true}\n";
  const auto trace = read_event_lines(text, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  auto summaries = analyze_trace(*trace);
  REQUIRE(summaries.size() == 1);
  return std::move(summaries[0]);
}

std::string written(const RunSummary& run) {
  std::string text;
  for (const RankSummary& rank : run.ranks) text += to_summary_json(rank) + "\n";
  RankSummary shared;
  shared.observations = run.cross_rank;
  shared.collectives = run.collectives;
  return text + to_summary_json(shared);
}

}  // namespace

TEST_CASE("merging in any grouping and order gives the same run") {
  std::vector<RankSummary> ranks;
  for (int rank = 0; rank < 7; ++rank)
    ranks.push_back(rank_that_arrives(rank, 7, 300 + rank % 3 * 50 + (rank == 4 ? 200 : 0)));
  const std::string expected = written(merge_ranks(ranks));
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<RunSummary> parts;
    std::ranges::shuffle(ranks, random);
    for (const RankSummary& rank : ranks) parts.push_back(merge_ranks({rank}));
    while (parts.size() > 1) {
      const size_t a = random() % parts.size();
      RunSummary first = std::move(parts[a]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(a));
      const size_t b = random() % parts.size();
      parts[b] = random() % 2 ? merge(std::move(first), std::move(parts[b]))
                              : merge(std::move(parts[b]), std::move(first));
    }
    REQUIRE(written(parts[0]) == expected);
  }
}

TEST_CASE("the rank that arrives last is named, with how long the others waited") {
  const RunSummary run = merge_ranks(
      {rank_that_arrives(0, 3, 300), rank_that_arrives(1, 3, 700), rank_that_arrives(2, 3, 400)});
  const auto wait = std::ranges::find(run.cross_rank, "collective-wait", &Observation::kind);
  REQUIRE(wait != run.cross_rank.end());
  CHECK(wait->numbers.at("late_rank") == 1);
  CHECK(wait->numbers.at("late_share") == 1);
  CHECK(wait->numbers.at("wait_ns") == doctest::Approx(350));  // (400 + 300) / 2
  CHECK(wait->place.line == 9);
  const auto slow = std::ranges::find(run.cross_rank, "straggler", &Observation::kind);
  REQUIRE(slow != run.cross_rank.end());
  CHECK(slow->rank == 1);
  CHECK(slow->texts.at("dominant_class") == "compute");
}

TEST_CASE("exposed communication is told apart from waiting for a late rank") {
  const auto row = [](const RankSummary& rank, std::string_view cause) {
    const auto found = std::ranges::find(rank.waits, cause, &WaitShare::cause);
    return found == rank.waits.end() ? Ns{0} : found->per_step;
  };
  const RankSummary early = rank_that_arrives(0, 2, 300), late = rank_that_arrives(1, 2, 700);
  CHECK(row(early, "communication") == 500);
  const RunSummary run = merge(merge_ranks({early}), merge_ranks({late}));
  CHECK(row(run.ranks[0], "communication-wait") == 400);
  CHECK(row(run.ranks[0], "communication") == 100);
  CHECK(std::ranges::find(run.ranks[0].waits, "communication-wait", &WaitShare::cause)->subject ==
        "rank 1");
  CHECK(row(run.ranks[1], "communication-wait") == 0);
  CHECK(row(run.ranks[1], "communication") == 100);
}

TEST_CASE("ranks that arrive together give no row") {
  const RunSummary run = merge_ranks({rank_that_arrives(0, 2, 400), rank_that_arrives(1, 2, 400)});
  CHECK(run.cross_rank.empty());
}

TEST_CASE("a summary reads back as it was written") {
  std::vector<RankSummary> ranks = {rank_that_arrives(3, 4, 450)};
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (RankSummary& rank : analyze_trace(random_trace(seed))) ranks.push_back(std::move(rank));
  ranks[0].health.repairs["x"] = 3;
  ranks[0].health.holes.push_back({1, 2, "why"});
  ranks[0].environment["gpu.name"] = "H100";
  ranks[0].slow_steps.push_back({.step = 3, .duration = 5, .difference = {}, .likely_cause = "gc"});
  ranks[0].startup.push_back({"import", 7});
  for (const RankSummary& rank : ranks) {
    const std::string text = to_summary_json(rank);
    const auto again = from_summary_json(text, "x.summary");
    REQUIRE_MESSAGE(again.ok(), again.error().to_string());
    CHECK(to_summary_json(*again) == text);
    CHECK(again->steps.size() == rank.steps.size());
  }
}

TEST_CASE("damaged summaries are errors with the file's name") {
  const std::string text = to_summary_json(rank_that_arrives(0, 1, 400));
  std::string wrong_use = text;
  const size_t at = wrong_use.find("\"use\":");
  wrong_use.replace(at, 7, "\"use\":99");
  for (const std::string& bad : {std::string(), std::string("[]"), std::string("{}"),
                                 text.substr(0, text.size() / 2), wrong_use}) {
    const auto result = from_summary_json(bad, "node3.summary");
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().file == "node3.summary");
  }
  for (size_t cut = 1; cut < text.size(); cut += text.size() / 50)
    CHECK_FALSE(from_summary_json(text.substr(0, cut), "x").ok());
}
