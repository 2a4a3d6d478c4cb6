// kernel and repeated-kernels, and the kernel table.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyze/constants.h"
#include "analyze/device_interface.h"
#include "analyze/launch_figures.h"
#include "analyze/observation_builder.h"
#include "analyze/observe_parts.h"
#include "analyze/operator_groups.h"
#include "analyze/product_precision.h"
#include "analyze/statistics.h"
#include "trace/run_manifest.h"

namespace stallscope {
namespace {

constexpr size_t kMostKernelRows = 100;
/// A kernel gets an observation when it takes this share of the step or runs this often in it.
constexpr double kNoticeable = 0.01;
constexpr double kOften = 8;
/// Durations kept per name for the median of the kernel table.
constexpr size_t kDurationsKept = 4096;

struct Group {
  StringId name = 0;
  SiteId site = 0;
  bool whole_graph = false;
  std::vector<std::pair<uint32_t, uint32_t>> used;  // used step, position in work
  uint64_t count = 0;
  Ns total = 0;
};

/// Whole graphs are rows of the table where their nodes are not recorded one by one.
bool has_row(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::graph_launch;
}

/// Time by what launched the kernels; groups come dearest first.
template <typename KeyOf>
std::vector<KernelShare> shares(const std::vector<const Group*>& groups, const KeyOf& key_of) {
  constexpr size_t kMostRowsShown = 50;
  std::map<KernelShare, std::pair<uint64_t, Ns>, decltype([](const auto& a, const auto& b) {
             return std::tie(a.op, a.place) < std::tie(b.op, b.place);
           })>
      sums;
  for (const Group* group : groups) {
    const std::optional<KernelShare> key = key_of(*group);
    if (!key) continue;
    auto& [count, total] = sums[*key];
    count += group->count;
    total += group->total;
  }
  std::vector<KernelShare> rows;
  for (const auto& [key, sum] : sums) rows.push_back({key.op, key.place, sum.first, sum.second});
  std::ranges::stable_sort(rows, std::greater{}, &KernelShare::total);
  if (rows.size() > kMostRowsShown) rows.resize(kMostRowsShown);
  return rows;
}

uint64_t pack(StringId name, SiteId site) {
  return uint64_t{name} << 32 | site;
}

void fill_table(const RankContext& context, const SiteTable& sites,
                const std::vector<const Group*>& groups, RankSummary& summary) {
  const Trace& trace = context.trace;
  struct Sum {
    const Group* dearest = nullptr;
    uint64_t count = 0;
    Ns total = 0;
    std::vector<double> durations;
  };
  std::unordered_map<StringId, Sum> by_name;
  for (const Group* group : groups) {
    Sum& sum = by_name[group->name];
    if (sum.dearest == nullptr || group->total > sum.dearest->total) sum.dearest = group;
    sum.count += group->count;
    sum.total += group->total;
  }
  for (EventId id : context.work->activities) {
    if (!has_row(trace.kinds()[id])) continue;
    const auto it = by_name.find(trace.names()[id]);
    if (it != by_name.end() && it->second.durations.size() < kDurationsKept)
      it->second.durations.push_back(static_cast<double>(trace.durations()[id]));
  }
  for (auto& [name, sum] : by_name) {
    const Site& site = sites.site(sum.dearest->site);
    summary.kernels.push_back({std::string(trace.text(name)), site.op, site.place, sum.count,
                               sum.total, static_cast<Ns>(median_of(std::move(sum.durations)))});
  }
  std::ranges::sort(summary.kernels, [](const KernelRow& a, const KernelRow& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  if (summary.kernels.size() > kMostKernelRows) summary.kernels.resize(kMostKernelRows);
  summary.kernels_by_op = shares(groups, [&](const Group& group) -> std::optional<KernelShare> {
    const Site& site = sites.site(group.site);
    if (site.op.empty()) return std::nullopt;
    return KernelShare{.op = site.op};
  });
  summary.kernels_by_line = shares(groups, [&](const Group& group) -> std::optional<KernelShare> {
    const Site& site = sites.site(group.site);
    if (site.place.line == 0) return std::nullopt;
    return KernelShare{.place = site.place};
  });
}

/// implicit_convolve_sgemm, ampere_scudnn_128x64_relu_..., sm90_xmma_fprop_implicit_gemm_...
bool is_convolution(std::string_view kernel) {
  constexpr std::string_view kWords[] = {"convol", "scudnn", "fprop", "dgrad", "wgrad", "winograd"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; });
}

/// What a kernel's name and the run's settings say of how it computes on a GPU.
void add_manner(const Trace& trace, const Group& group, ObservationBuilder& row) {
  const std::string_view name = trace.text(group.name);
  const auto benchmark = trace.environment.find(kCudnnBenchmarkFact);
  if (is_convolution(name)) {
    if (benchmark != trace.environment.end() && benchmark->second != "mixed")
      row.numbers["cudnn_benchmark"] = benchmark->second == "1" ? 1 : 0;
  } else if (operator_group(name, "") == OperatorGroup::product) {
    if (const std::string_view precision = precision_in_name(name); !precision.empty())
      row.texts["precision"] = precision;
  }
}

void add_member(const RankContext& context, const Group& group, ObservationBuilder& row) {
  const Trace& trace = context.trace;
  const DeviceWork& work = *context.work;
  for (const auto& [used, at] : group.used) {
    const EventId id = work.activities[at], call = work.launches[at];
    const auto duration = static_cast<double>(trace.durations()[id]);
    row.count.add(used, 1);
    row.per_step["duration_ns"].add(used, duration);
    if (call != kNoEvent) {
      row.per_step["launch_ns"].add(used, static_cast<double>(trace.durations()[call]));
      row.blocked.add(used, 0);
    }
    row.events.push_back(id);
    const EventId asked = call == kNoEvent ? id : call;
    row.consider(duration, asked, trace.stacks()[asked]);
  }
}

// All kernels that one line builds a constant with are one row; without lines, those of one site
// that build the same.
void observe_constants(const RankContext& context, const SiteTable& sites,
                       const std::vector<const Group*>& groups, Observations& observations) {
  struct Constant {
    const Group* builder = nullptr;  // the kernel that says most about what is built
    std::string_view built;
    std::vector<const Group*> members;
  };
  std::map<std::tuple<std::string_view, uint32_t, SiteId, std::string_view>, Constant> constants;
  ConstantNames names;
  for (const Group* group : groups) {
    if (group->used.empty() || group->whole_graph || context.collective_name[group->name]) continue;
    const Site& site = sites.site(group->site);
    if (site.by_autograd) continue;  // gradients begin with ones and zeros: no line of the user's
    const ConstantPart part =
        names.of(context.trace.text(group->name), group->name, site, group->site);
    const bool has_line = site.place.line != 0;
    if (part.built.empty() && !(has_line && part.derived)) continue;
    Constant& constant = has_line ? constants[{site.place.file, site.place.line, 0, {}}]
                                  : constants[{std::string_view{}, 0, group->site, part.built}];
    constant.members.push_back(group);
    if (part.built.empty()) continue;
    if (constant.builder != nullptr && constant_rank(constant.built) <= constant_rank(part.built))
      continue;
    constant.builder = group;
    constant.built = part.built;
  }
  for (const auto& [key, constant] : constants) {
    if (constant.builder == nullptr) continue;  // mathematics of what is no constant
    ObservationBuilder row;
    row.site = constant.builder->site;
    row.subject = context.trace.text(constant.builder->name);
    row.texts["constant"] = constant.built;
    row.numbers["distinct"] = static_cast<double>(constant.members.size());
    for (const Group* group : constant.members) add_member(context, *group, row);
    Observation observation = row.finish(context, sites, "repeated-kernels");
    // The same in most steps is what makes it a constant.
    if (observation.count.steps_affected * 2 > observation.count.steps)
      observations.push_back(std::move(observation));
  }
}

}  // namespace

void observe_kernels(const RankContext& context, SiteTable& sites, RankSummary& summary) {
  const Trace& trace = context.trace;
  const DeviceWork& work = *context.work;
  std::unordered_map<uint64_t, Group> groups;
  for (size_t i = 0; i < work.activities.size(); ++i) {
    const EventId id = work.activities[i];
    if (!has_row(trace.kinds()[id])) continue;
    const SiteId site = sites.of_work(id, work.launches[i]);
    Group& group = groups[pack(trace.names()[id], site)];
    group.name = trace.names()[id];
    group.site = site;
    group.whole_graph = trace.kinds()[id] == EventKind::graph_launch;
    ++group.count;
    group.total += trace.durations()[id];
    const uint32_t step = context.step_work.step_of[i];
    if (step != kNoIndex && context.used_rank[step] != kNoIndex)
      group.used.emplace_back(context.used_rank[step], static_cast<uint32_t>(i));
  }
  std::vector<const Group*> ordered;
  for (const auto& [key, group] : groups) ordered.push_back(&group);
  std::ranges::sort(ordered, [](const Group* a, const Group* b) {
    return a->total != b->total ? a->total > b->total
                                : std::pair(a->name, a->site) < std::pair(b->name, b->site);
  });
  fill_table(context, sites, ordered, summary);
  if (context.used.empty()) return;

  const auto steps = static_cast<double>(context.used.size());
  const bool on_gpu = !device_interface(trace).empty();
  size_t made = 0;
  for (const Group* group : ordered) {
    if (group->used.empty() || group->whole_graph) continue;
    const bool collective = context.collective_name[group->name];
    double used_ns = 0;
    for (const auto& [used, at] : group->used)
      used_ns += static_cast<double>(trace.durations()[work.activities[at]]);
    const double fraction =
        used_ns / (steps * static_cast<double>(std::max<Ns>(context.step_mean, 1)));
    const double per_step = static_cast<double>(group->used.size()) / steps;
    if (collective || (fraction < kNoticeable && per_step < kOften) || ++made > kMostPerKind)
      continue;
    ObservationBuilder row;
    row.site = group->site;
    row.subject = trace.text(group->name);
    row.numbers["fraction"] = fraction;
    row.numbers["mean_ns"] = used_ns / static_cast<double>(group->used.size());
    add_member(context, *group, row);
    if (on_gpu) add_manner(trace, *group, row);
    row.per_step.erase("launch_ns");
    summary.observations.push_back(row.finish(context, sites, "kernel"));
  }
  observe_constants(context, sites, ordered, summary.observations);
}

void observe_launch_bound(const RankContext& context, SiteTable& sites,
                          Observations& observations) {
  const Trace& trace = context.trace;
  std::map<SiteId, ObservationBuilder> groups;
  for (const IdlePiece& piece : context.idle) {
    if (piece.step_class != StepClass::launch_bound) continue;
    const uint32_t used = context.used_rank[piece.step];
    if (used == kNoIndex) continue;
    const SiteId site = sites.of(piece.launch);
    ObservationBuilder& group = groups[site];
    group.site = site;
    group.count.add(used, 1);
    group.idle.add(used, static_cast<double>(piece.length));
    group.blocked.add(used, static_cast<double>(trace.durations()[piece.launch]));
    group.events.push_back(piece.launch);
    group.consider(static_cast<double>(piece.length), piece.launch, trace.stacks()[piece.launch]);
    if (group.subject.empty()) group.subject = trace.name(piece.ended_by);
  }
  if (groups.empty()) return;
  // Of the whole step: they say whether shortening launches can help at all.
  const LaunchFigures figures = launch_figures(context);
  RowMaker maker;
  for (auto& [site, group] : groups) {
    add_figures(figures, group);
    maker.add("launch-bound", group);
  }
  maker.make(context, sites, observations);
}

}  // namespace stallscope
