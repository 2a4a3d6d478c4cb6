#include "analyze/cross_rank.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyze/late_ranks.h"
#include "analyze/observe_parts.h"
#include "analyze/statistics.h"

namespace stallscope {
namespace {

/// A rank is a straggler when its own part of the step exceeds the others' median by this much.
constexpr double kStragglerExcess = 0.05;
/// Devices of one kind differ by a few per cent; one that computes this much longer is slow.
constexpr double kSlowDevice = 0.10;
/// Waits below this share of the step are the ordinary spread of arrivals.
constexpr double kLeastWait = 0.002;

/// Waits in collectives of one name and group.
struct Waits {
  std::map<int32_t, uint64_t> last;    // how often each rank arrived last
  std::map<int32_t, Ns> caused;        // waiting of the others when it did
  std::map<uint32_t, double> by_step;  // mean wait per other rank
  std::map<int32_t, Ns> longest;       // by late rank
  uint64_t collectives = 0;
};

double wait_of(const CollectiveShare& share) {
  // Everyone's duration minus the shortest, over those who waited.
  return static_cast<double>(share.total - share.shortest * static_cast<Ns>(share.ranks)) /
         static_cast<double>(share.ranks - 1);
}

std::set<uint32_t> used_anywhere(const RunSummary& run) {
  std::set<uint32_t> used;
  for (const RankSummary& rank : run.ranks)
    for (const Step& step : rank.steps)
      if (step.use == StepUse::used) used.insert(step.index);
  return used;
}

double median_step_time(const RunSummary& run) {
  std::vector<double> medians;
  for (const RankSummary& rank : run.ranks)
    if (rank.step_median > 0) medians.push_back(static_cast<double>(rank.step_median));
  return median_of(std::move(medians));
}

// The place of the collective as the late rank saw it, if it saw one.
void borrow_place(const RunSummary& run, int32_t late, const std::string& name,
                  Observation& observation) {
  for (const RankSummary& rank : run.ranks) {
    if (rank.rank != late) continue;
    for (const Observation& seen : rank.observations) {
      if (seen.kind != "collective" || seen.subject != name || !seen.place.known()) continue;
      observation.place = seen.place;
      observation.stack = seen.stack;
      return;
    }
  }
}

void observe_waits(const RunSummary& run, const RankGroups& rank_groups,
                   std::vector<Observation>& observations) {
  const std::map<WaitKey, LateRanks> together = late_ranks(run, rank_groups);
  const std::set<uint32_t> used = used_anywhere(run);
  std::map<WaitKey, Waits> groups;
  for (const auto& [key, share] : run.collectives) {
    if (share.ranks < 2 || (!used.empty() && !used.contains(share.step))) continue;
    Waits& waits = groups[{share.name, key.group}];
    const double wait = wait_of(share);
    ++waits.collectives;
    ++waits.last[share.shortest_rank];
    waits.caused[share.shortest_rank] += static_cast<Ns>(wait);
    waits.by_step[share.step] += wait;
    Ns& longest = waits.longest[share.shortest_rank];
    longest = std::max(longest, static_cast<Ns>(wait));
  }
  const double step_time = median_step_time(run);
  for (const auto& [key, waits] : groups) {
    const auto& [name, group] = key;
    const auto late = std::ranges::max_element(
        waits.caused, [](const auto& a, const auto& b) { return a.second < b.second; });
    Observation observation;
    observation.kind = "collective-wait";
    observation.subject = name;
    observation.rank = late->first;
    const auto found = together.find(key);
    const LateRanks several = found == together.end() ? LateRanks{} : found->second;
    const bool is_link = several.ranks.size() > 1;
    observation.cause = is_link ? several.text + ", which arrive last together"
                                : "rank " + std::to_string(late->first) + ", which arrives last";
    std::vector<double> per_step;
    for (const auto& [step, wait] : waits.by_step) per_step.push_back(wait);
    Distribution& blocked = observation.blocked_ns;
    blocked.steps =
        used.empty() ? static_cast<uint32_t>(per_step.size()) : static_cast<uint32_t>(used.size());
    blocked.steps_affected = static_cast<uint32_t>(per_step.size());
    for (double wait : per_step) {
      blocked.total += wait;
      blocked.maximum = std::max(blocked.maximum, wait);
    }
    if (step_time > 0 && blocked.per_step() < kLeastWait * step_time) continue;
    per_step.resize(std::max<size_t>(blocked.steps, per_step.size()), 0);
    blocked.median = median_of(per_step);
    observation.count.steps = blocked.steps;
    observation.count.steps_affected = blocked.steps_affected;
    observation.count.total = static_cast<double>(waits.collectives);
    observation.numbers["late_rank"] = late->first;
    uint64_t last = is_link ? 0 : waits.last.at(late->first);
    for (const int32_t rank : several.ranks)
      if (const auto often = waits.last.find(rank); is_link && often != waits.last.end())
        last += often->second;
    observation.numbers["late_share"] =
        static_cast<double>(last) / static_cast<double>(waits.collectives);
    observation.numbers["late_count"] = is_link ? static_cast<double>(several.ranks.size()) : 1;
    if (is_link) observation.texts["late_ranks"] = rank_list(several.ranks);
    observation.numbers["wait_ns"] = blocked.per_step();
    observation.numbers["max_wait_ns"] = static_cast<double>(waits.longest.at(late->first));
    observation.texts["group"] = group;
    observation.texts["operation"] = name;
    borrow_place(run, late->first, name, observation);
    observations.push_back(std::move(observation));
  }
}

// A rank's step without waiting for others: a late rank shows by what it does itself.
double own_time(const RankSummary& rank) {
  return static_cast<double>(rank.mean_breakdown.total() -
                             rank.mean_breakdown[StepClass::exposed_communication]);
}

/// The lower middle of each class over the ranks, so that of two ranks the slower can stand out.
ClassTimes usual_classes(const std::vector<const RankSummary*>& ranks) {
  ClassTimes usual;
  for (size_t c = 0; c < kStepClasses; ++c) {
    std::vector<Ns> values;
    for (const RankSummary* rank : ranks) values.push_back(rank->mean_breakdown.ns[c]);
    std::ranges::sort(values);
    usual.ns[c] = values[(values.size() - 1) / 2];
  }
  return usual;
}

StepClass largest_excess(const RankSummary& rank, const ClassTimes& usual) {
  StepClass largest = StepClass::compute;
  const auto excess = [&](StepClass c) { return rank.mean_breakdown[c] - usual[c]; };
  for (size_t i = 0; i < kStepClasses; ++i) {
    const auto c = static_cast<StepClass>(i);
    if (c != StepClass::exposed_communication && excess(c) > excess(largest)) largest = c;
  }
  return largest;
}

const Observation* node_row(const RankSummary& rank) {
  const auto row = std::ranges::find(rank.observations, "node", &Observation::kind);
  return row == rank.observations.end() ? nullptr : &*row;
}

double number_of(const Observation* row, const char* name) {
  if (row == nullptr) return 0;
  const auto it = row->numbers.find(name);
  return it == row->numbers.end() ? 0 : it->second;
}

double median_of_others(const std::vector<const RankSummary*>& ranks, const RankSummary& rank,
                        const char* field) {
  std::vector<double> values;
  for (const RankSummary* other : ranks)
    if (other != &rank) values.push_back(number_of(node_row(*other), field));
  return median_of(std::move(values));
}

// What happened to the rank's GPU; empty when the same happened to the others', or nothing.
std::string cause_on_gpu(const std::vector<const RankSummary*>& ranks, const RankSummary& rank,
                         const Observation& row) {
  constexpr double kSameClock = 0.97;
  const auto gpu = row.texts.find("gpu");
  if (gpu == row.texts.end()) return {};
  const double clock = number_of(&row, "clock_mhz");
  const double usual = median_of_others(ranks, rank, "clock_mhz");
  const bool slower = row.texts.contains("throttled") && (usual <= 0 || clock < kSameClock * usual);
  const bool shared =
      number_of(&row, "gpu_processes") > median_of_others(ranks, rank, "gpu_processes");
  return slower || shared ? gpu->second : std::string{};
}

// What the rank's machine did to it and not to the others, when that explains a good part of the
// excess; empty when nothing does.
std::string cause_on_node(const std::vector<const RankSummary*>& ranks, const RankSummary& rank,
                          double excess_ns, StepClass dominant) {
  const Observation* row = node_row(rank);
  if (row == nullptr) return {};
  std::map<std::string, double> more = row->numbers;
  for (const char* field : {"stopped_ns", "throttled_ns", "delayed_ns", "storage_ns"})
    more[field] = number_of(row, field) - median_of_others(ranks, rank, field);
  const std::string on_gpu = cause_on_gpu(ranks, rank, *row);
  const std::string on_cpu = node_causes(more, excess_ns);
  const bool by_gpu = !on_gpu.empty() && (on_cpu.empty() || dominant == StepClass::compute);
  return by_gpu ? on_gpu : on_cpu;
}

void observe_stragglers(const RunSummary& run, std::vector<Observation>& observations) {
  std::vector<const RankSummary*> ranks;
  std::vector<double> own;
  for (const RankSummary& rank : run.ranks) {
    if (rank.mean_breakdown.total() <= 0 || rank.rank < 0) continue;
    ranks.push_back(&rank);
    own.push_back(own_time(rank));
  }
  if (ranks.size() < 2) return;
  std::vector<double> sorted = own;
  std::ranges::sort(sorted);
  const double typical = sorted[(sorted.size() - 1) / 2];
  const double step_time = median_step_time(run);
  if (typical <= 0 || step_time <= 0) return;
  const ClassTimes usual = usual_classes(ranks);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankSummary& rank = *ranks[i];
    // A device that computes longer is slow even where its steps' idle time hides it.
    const auto compute = static_cast<double>(usual[StepClass::compute]);
    const double slower = static_cast<double>(rank.mean_breakdown[StepClass::compute]) - compute;
    const bool slow_device = slower >= kSlowDevice * compute;
    const double excess = slow_device ? std::max(slower, own[i] - typical) : own[i] - typical;
    if (excess < kStragglerExcess * step_time) continue;
    const StepClass dominant = slow_device && slower >= own[i] - typical
                                   ? StepClass::compute
                                   : largest_excess(rank, usual);
    Observation observation;
    observation.kind = "straggler";
    observation.rank = rank.rank;
    observation.pid = rank.pid;
    observation.device = rank.device;
    observation.subject = "rank " + std::to_string(rank.rank);
    observation.cause = cause_on_node(ranks, rank, excess, dominant);
    observation.texts["dominant_class"] = to_string(dominant);
    observation.numbers["excess_ns"] = excess;
    observation.numbers["excess_fraction"] = excess / step_time;
    observations.push_back(std::move(observation));
  }
}

/// A rank's mean wait per used step in collectives, and the rank that it waited for longest.
std::pair<Ns, int32_t> collective_wait(const RunSummary& run, const RankGroups& groups,
                                       size_t index) {
  const RankSummary& rank = run.ranks[index];
  std::set<uint32_t> used;
  for (const Step& step : rank.steps)
    if (step.use == StepUse::used) used.insert(step.index);
  Ns total = 0;
  std::map<int32_t, Ns> by_rank;
  for (const auto& [key, share] : rank.collectives) {
    const auto joined = run.collectives.find(groups.joined(index, key, share));
    if (!used.contains(share.step) || joined == run.collectives.end()) continue;
    const Ns wait = share.total - joined->second.shortest;
    total += wait;
    by_rank[joined->second.shortest_rank] += wait;
  }
  if (total <= 0) return {0, -1};
  const auto late = std::ranges::max_element(
      by_rank, [](const auto& a, const auto& b) { return a.second < b.second; });
  return {total / static_cast<Ns>(used.size()), late->first};
}

}  // namespace

void split_communication_waits(RunSummary& run, const RankGroups& groups) {
  for (size_t index = 0; index < run.ranks.size(); ++index) {
    RankSummary& rank = run.ranks[index];
    const auto row = [&rank](std::string_view cause) {
      return std::ranges::find(rank.waits, cause, &WaitShare::cause);
    };
    const auto communication = row("communication");
    if (communication == rank.waits.end()) continue;
    if (const auto before = row("communication-wait"); before != rank.waits.end()) {
      communication->per_step += before->per_step;
      rank.waits.erase(before);
    }
    const auto whole = row("communication");
    const auto [wait, late] = collective_wait(run, groups, index);
    const Ns exposed = std::min(wait, whole->per_step);
    if (exposed <= 0) continue;
    whole->per_step -= exposed;
    rank.waits.push_back({"communication-wait", "rank " + std::to_string(late), {}, {}, exposed});
    std::ranges::stable_sort(rank.waits, std::greater{}, &WaitShare::per_step);
  }
}

void measure_transfers(RunSummary& run, const RankGroups& groups) {
  // The messages of a step by their place in it, each as short as in its best step: where cores or
  // links are shared with others, a rank is often not running when its message comes.
  struct Messages {
    uint32_t step = 0;
    size_t place = 0;
    std::vector<Ns> least{};
  };
  for (size_t index = 0; index < run.ranks.size(); ++index) {
    RankSummary& rank = run.ranks[index];
    // By the rank's own name of the group, and operation.
    std::map<std::pair<std::string_view, std::string_view>, Messages> series;
    for (const auto& [key, share] : rank.collectives) {
      const auto joined = run.collectives.find(groups.joined(index, key, share));
      if (joined == run.collectives.end() || joined->second.ranks < 2) continue;
      Messages& it = series[{group_name(key, share), share.name}];
      it.place = it.least.empty() || it.step != share.step ? 0 : it.place + 1;
      it.step = share.step;
      if (it.place == it.least.size()) it.least.push_back(joined->second.shortest);
      it.least[it.place] = std::min(it.least[it.place], joined->second.shortest);
    }
    for (Observation& seen : rank.observations) {
      if (seen.kind != "collective") continue;
      const auto found = series.find({seen.texts["group"], seen.texts["operation"]});
      if (found == series.end()) continue;
      double sum = 0;
      for (const Ns least : found->second.least) sum += static_cast<double>(least);
      // Of all places in the code that start them, this one's part.
      const double each = sum / static_cast<double>(found->second.least.size());
      const double transfer = each * seen.count.per_step();
      const auto duration = seen.numbers.find("duration_ns");
      seen.numbers["transfer_ns"] =
          duration != seen.numbers.end() ? std::min(transfer, duration->second) : transfer;
    }
  }
}

std::vector<Observation> observe_across_ranks(const RunSummary& run, const RankGroups& groups) {
  std::vector<Observation> observations;
  if (run.ranks.size() < 2) return observations;
  observe_waits(run, groups, observations);
  observe_slow_links(run, groups, observations);
  observe_stragglers(run, observations);
  return observations;
}

}  // namespace stallscope
