#include "rule/gain.h"
#include "rule/rank_findings.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stallscope {
namespace {

double number(const Observation& o, const char* key) {
  const auto it = o.numbers.find(key);
  return it == o.numbers.end() || !std::isfinite(it->second) ? 0 : std::max(0.0, it->second);
}

// Beyond this relative error of the unchanged step a replayed price is no better
// than what is charged.
constexpr double kTrustedReplay = 0.15;

/// What is charged to an observation: `mid` is the price, `beyond` what it may
/// be more at best. All in ns per step.
struct Charge {
  double mid = 0, beyond = 0;
  Budget budget = Budget::idle;
};

bool is_host_view(const Seen& seen) {
  return seen.rank != nullptr && seen.rank->view == RankView::host;
}

// A process without device work has no idle device: its own blocked time is the price.
Charge host_charge(const Seen& seen) {
  const Observation& o = *seen.observation;
  const double idle = o.idle_ns.per_step(), blocked = o.blocked_ns.per_step();
  if (is_host_view(seen) && idle <= 0) {
    // Of many calls over one tree, a single one that does all the changes remains.
    const double remains = number(o, "leaves") > 0 ? number(o, "call_ns") : 0;
    return {std::max({blocked - remains, number(o, "self_ns") - remains, 0.0}), 0, Budget::idle};
  }
  return {idle, blocked, Budget::idle};
}

Charge charge_of(GainModel model, const Seen& seen) {
  const Observation& o = *seen.observation;
  const double idle = o.idle_ns.per_step();
  if (o.kind == "collective-burst")
    return {number(o, "saving_ns"), number(o, "coalesced_ns"), Budget::communication};
  if (o.kind == "collective") return {number(o, "exposed_ns"), 0, Budget::communication};
  if (o.kind == "collective-wait") return {number(o, "wait_ns"), 0, Budget::lateness};
  if (o.kind == "slow-link") return {number(o, "slower_ns"), 0, Budget::communication};
  if (o.kind == "straggler") {
    const auto dominant = o.texts.find("dominant_class");
    const bool computes = dominant != o.texts.end() && dominant->second == "compute";
    return {number(o, "excess_ns"), 0, computes ? Budget::compute : Budget::idle};
  }
  if (o.kind == "copy" || o.kind == "memset" || o.kind == "pageable-copy") {
    const double exposed = o.kind == "memset" ? number(o, "duration_ns") : number(o, "exposed_ns");
    return {exposed + idle, o.blocked_ns.per_step(), Budget::copy};
  }
  if (model == GainModel::remove_kernels && number(o, "duration_ns") > 0)
    return {number(o, "duration_ns"), idle + number(o, "launch_ns"), Budget::compute};
  if (o.kind == "python-hot-function") {
    const double charged = number(o, "charged_ns"), inclusive = number(o, "inclusive_ns");
    if (model == GainModel::remove_sync && is_host_view(seen)) {
      // What is waited for must still be computed; read later, it runs beside the host's own work
      // of the step at best, and how much of that does not need it is unknown.
      const double beside = static_cast<double>(mean_step(*seen.rank)) - inclusive;
      const double most = std::clamp(beside, 0.0, number(o, "waiting_ns"));
      return {most / 2, most / 2, Budget::idle};
    }
    if (is_host_view(seen) && idle <= 0)
      return charged > 0 ? Charge{charged, std::max(inclusive - charged, 0.0), Budget::idle}
                         : Charge{inclusive, 0, Budget::idle};
    return {idle, number(o, "inclusive_ns"), Budget::idle};
  }
  return host_charge(seen);
}

// Of a place that does more than what the rule is about: that part, which may be charged in full
// where no device has to idle for it.
Charge limited(Charge charge, const std::string& field, const Seen& seen) {
  if (field.empty() || !seen.observation->numbers.contains(field)) return charge;
  const double part = number(*seen.observation, field.c_str());
  const double all = charge.mid + charge.beyond;
  charge.mid = std::min(part, is_host_view(seen) ? all : charge.mid);
  charge.beyond = all - charge.mid;
  return charge;
}

Ns to_ns(double value) {
  return static_cast<Ns>(std::llround(std::clamp(value, 0.0, 9e18)));
}

}  // namespace

Ns budget_of(const RankSummary& rank, Budget budget) {
  const ClassTimes& c = rank.mean_breakdown;
  switch (budget) {
    case Budget::communication:
      return c[StepClass::exposed_communication];
    case Budget::copy:
      // A staged copy shows as copying and as the idle time around it.
      return c[StepClass::exposed_copy] + c[StepClass::host_sync];
    case Budget::compute:
      return c[StepClass::compute];
    case Budget::lateness:
      return c.total();
    case Budget::batched:
      return c.total() - c[StepClass::exposed_communication];
    case Budget::idle:
      break;
  }
  return c.total() - c[StepClass::compute] - c[StepClass::exposed_communication] -
         c[StepClass::exposed_copy];
}

std::optional<Price> price_of(const Rule& rule, const Seen& seen) {
  const GainModel model = rule.gain;
  const double share = rule.gain_share;
  if (model == GainModel::none) return std::nullopt;
  if (seen.startup_only()) return std::nullopt;
  const Observation& o = *seen.observation;
  const Charge charge = limited(charge_of(model, seen), rule.gain_of, seen);
  Price price;
  price.budget = charge.budget;
  price.host_view = is_host_view(seen);
  const double step = seen.rank == nullptr ? 0 : static_cast<double>(mean_step(*seen.rank));
  const double error = seen.rank == nullptr ? -1 : seen.rank->replay_error;
  const bool batched = model == GainModel::batch_calls && o.numbers.contains("replay_batched_ns");
  const auto saved = o.numbers.find(batched ? "replay_batched_ns" : "replay_saved_ns");
  if (saved != o.numbers.end() && std::isfinite(saved->second) && error >= 0 &&
      error <= kTrustedReplay) {
    // What replay gets wrong of the unchanged step it may get wrong of this.
    const double mid = std::max(0.0, saved->second) * share;
    const double margin = std::max(0.1 * mid, error * step);
    price.replay_error = error;
    if (batched) price.budget = Budget::batched;
    price.range = {.low = to_ns(mid - margin), .mid = to_ns(mid), .high = to_ns(mid + margin)};
    price.at_most = model == GainModel::overlap_collective;
    if (price.at_most) price.range.high = to_ns(mid);
    if (model == GainModel::remove_sync) price.together = to_ns(number(o, "replay_together_ns"));
  } else {
    price.range.mid = to_ns(charge.mid * share);
    price.range.high = to_ns((charge.mid + charge.beyond) * share);
    price.at_most = model == GainModel::overlap_collective && o.kind == "collective";
  }
  // The trace does not say which work needs a collective's result, so what could run beside it lies
  // between nothing and enough.
  if (price.at_most)
    price.range = {.low = 0, .mid = price.range.high / 2, .high = price.range.high};
  if (seen.rank != nullptr) {
    const Ns most = budget_of(*seen.rank, price.budget);
    price.range.low = std::min(price.range.low, most);
    price.range.mid = std::min(price.range.mid, most);
    price.range.high = std::min(price.range.high, std::max(most, price.range.mid));
  }
  return price;
}

Price add_prices(std::span<const Price> prices, const RankSummary& rank) {
  Price sum;
  if (!prices.empty()) {
    sum.budget = prices.front().budget;
    sum.host_view = prices.front().host_view;
  }
  for (const Price& price : prices) {
    sum.range.low += price.range.low;
    sum.range.mid += price.range.mid;
    sum.range.high += price.range.high;
    if (price.replay_error) sum.replay_error = price.replay_error;
    sum.together = std::max(sum.together, price.together);
    sum.at_most = sum.at_most || price.at_most;
  }
  // With the function's other waits gone too, which the fix usually means: alone is the least.
  if (sum.together > sum.range.high) {
    sum.range.mid = sum.together;
    sum.range.high = sum.together + sum.together / 10;
  } else {
    sum.together = 0;
  }
  const Ns most = budget_of(rank, sum.budget);
  sum.range.low = std::min(sum.range.low, most);
  sum.range.mid = std::min(sum.range.mid, most);
  sum.range.high = std::min(sum.range.high, most);
  return sum;
}

std::string gain_method(GainModel model, const Price& price) {
  const std::string limit =
      price.at_most ? ", if there is work to hide it behind (high: all of it)" : "";
  if (price.replay_error)
    return "replay: " + std::string(to_string(model)) +
           (price.together > 0 ? ", together with the function's other waits (low: alone)" : "") +
           limit;
  switch (price.budget) {
    case Budget::communication:
      return "exposed communication charged to it" + limit;
    case Budget::copy:
      return "exposed copying and device idle time charged to it";
    case Budget::compute:
      return "device time of the kernels that it removes";
    case Budget::lateness:
      return "time that other ranks wait for the late one";
    case Budget::batched:  // only replay removes what lies between calls
    case Budget::idle:
      break;
  }
  return price.host_view ? "time of the step thread charged to it"
                         : "device idle time charged to it";
}

Severity measured_severity(Severity worst, std::optional<double> fraction,
                           std::optional<Ns> one_time_ns) {
  // Shares of the step: a tenth is worth stopping work for, a thousandth is noise.
  constexpr std::array<std::pair<double, Severity>, 4> kShares = {{{0.10, Severity::critical},
                                                                   {0.03, Severity::high},
                                                                   {0.01, Severity::medium},
                                                                   {0.001, Severity::low}}};
  // Once per run: what a person who waits for the first step notices.
  constexpr std::array<std::pair<Ns, Severity>, 3> kOnce = {{{20'000'000'000, Severity::high},
                                                             {2'000'000'000, Severity::medium},
                                                             {200'000'000, Severity::low}}};
  if (!fraction && !one_time_ns) return worst;
  Severity deserved = Severity::info;
  for (const auto& [share, severity] : kShares)
    if (fraction && *fraction >= share) deserved = std::max(deserved, severity);
  for (const auto& [time, severity] : kOnce)
    if (one_time_ns && *one_time_ns >= time) deserved = std::max(deserved, severity);
  return std::min(worst, deserved);
}

}  // namespace stallscope
