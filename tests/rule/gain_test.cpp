// What a finding would save: the price of one observation.
#include "rule/gain.h"

#include <doctest/doctest.h>

#include <tuple>

using namespace stallscope;

TEST_CASE("of a line that does more, what the rule is about is priced") {
  Observation o;
  o.kind = "python-hot-function";
  o.numbers = {{"inclusive_ns", 90'000}, {"charged_ns", 10'000}};
  RankSummary r;
  r.step_median = 1'000'000;
  r.mean_breakdown[StepClass::compute] = 700'000;
  r.mean_breakdown[StepClass::host_work] = 300'000;
  Rule rule;
  rule.gain = GainModel::shrink_host;
  rule.gain_of = "standard_wait_ns";
  for (const auto& [view, wait, mid, high] :
       {std::tuple<RankView, double, Ns, Ns>{RankView::host, 40'000, 40'000, 90'000},
        {RankView::host, -1, 10'000, 90'000},         // nothing tells: what is charged
        {RankView::device, 40'000, 20'000, 110'000},  // the device idles for less
        {RankView::device, 5'000, 5'000, 110'000}}) {
    CAPTURE(wait);
    r.view = view;
    o.idle_ns = {.total = view == RankView::device ? 200'000.0 : 0.0, .steps = 10};
    o.numbers.erase("standard_wait_ns");
    if (wait >= 0) o.numbers["standard_wait_ns"] = wait;
    const auto price = price_of(rule, {.observation = &o, .rank = &r});
    REQUIRE(price);
    CHECK(price->range.mid == mid);
    CHECK(price->range.high == high);
  }
}
