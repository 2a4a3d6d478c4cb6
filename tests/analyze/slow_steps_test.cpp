// Why a step took longer than the others.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>

#include "analyze/analyze.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

constexpr int kAllSteps = 14, kSlow = 7;

// Steps of 1 ms in train.py:20; one takes 4 ms, and its samples beyond the first ms are `sample`,
// inside a range of the name `range` if it has one.
std::string cause_of_slow_step(const std::string& sample, const std::string& range = "") {
  std::string lines;
  int at = 0;
  for (int step = 0; step < kAllSteps; ++step) {
    const int length = step == kSlow ? 4000 : 1000;
    lines +=
        fmt::format("{{\"name\":\"train_step\",\"startUs\":{},\"durationUs\":{}}}\n", at, length);
    if (step == kSlow && !range.empty())
      lines +=
          fmt::format("{{\"name\":\"{}\",\"startUs\":{},\"durationUs\":2900}}\n", range, at + 1000);
    for (int us = 0; us < length; us += 100)
      lines += fmt::format(
          "{{\"kind\":\"sample\",\"startUs\":{},\"durationUs\":100,{}}}\n", at + us,
          us < 1000 ? R"("detail":"python","stack":["/home/u/train.py:20 train"])" : sample);
    at += length;
  }
  const auto trace = read_event_lines(lines, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  const auto ranks = analyze_trace(*trace);
  REQUIRE(ranks.size() == 1);
  REQUIRE(ranks[0].slow_steps.size() == 1);
  CHECK(ranks[0].slow_steps[0].step == kSlow);
  CHECK(ranks[0].slow_steps[0].duration == 4'000'000);
  return ranks[0].slow_steps[0].likely_cause;
}

}  // namespace

TEST_CASE("a slow step names the line that its samples show, or that it had no CPU") {
  CHECK(
      cause_of_slow_step(
          R"("detail":"python","stack":["/home/u/data.py:12 load","/home/u/train.py:21 train"])") ==
      "load (data.py:12)");
  CHECK(cause_of_slow_step(R"("detail":"delayed","stack":["/home/u/train.py:20 train"])") ==
        "waiting for a CPU");
  CHECK(cause_of_slow_step(
            R"("detail":"python","stack":["/usr/lib/python3.11/json/e.py:9 encode"])") ==
        "");  // no line of the user's own
  // What is known to take long now and then says more than the line that it interrupts.
  CHECK(cause_of_slow_step(R"("detail":"python","stack":["/home/u/train.py:20 train"])", "gc") ==
        "garbage collection");
}
