#include "analyze/observe.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "analyze/observe_parts.h"
#include "analyze/phases.h"
#include "analyze/queue_depth.h"
#include "analyze/timeline.h"
#include "base/parallel.h"

namespace stallscope {
namespace {

double weight(const Observation& o) {
  const auto own = [&o](const char* name) {
    const auto it = o.numbers.find(name);
    return it == o.numbers.end() ? 0 : it->second;
  };
  const double idle = o.idle_ns.per_step(), blocked = o.blocked_ns.per_step();
  return std::max(
      {idle + blocked, own("duration_ns"), own("exposed_ns"), static_cast<double>(o.one_time_ns)});
}

// By kind, then dearest first; ties by what is written in the row, so that order is stable.
void put_in_order(Observations& observations) {
  std::ranges::stable_sort(observations, [](const Observation& a, const Observation& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    const double x = weight(a), y = weight(b);
    if (x != y) return x > y;
    return std::tie(a.subject, a.place, a.cause) < std::tie(b.subject, b.place, b.cause);
  });
}

}  // namespace

void observe_all(const RankContext& context, RankSummary& summary) {
  // Shares of work, the longest first, each with sites and rows of its own and
  // with members of the summary that the others do not touch.
  Observations waits;
  Observations& rows = summary.observations;
  parallel_for(3, [&](size_t share) {
    if (share == 2) {
      if (context.work != nullptr) summary.queue = queue_depth(context.trace, *context.work);
      summary.phases = phases_of(context);
      return;
    }
    SiteTable sites(context.index, context.options);
    if (share == 0) {
      if (context.work != nullptr) {
        const StreamOrder order(context.index, *context.work);
        observe_host_sync(context, sites, order, waits);
        observe_copies(context, sites, waits);
        WaitTable table(context, sites);
        observe_host_gaps(context, sites, table, waits);
        if (!context.used.empty()) summary.waits = table.finish();
      } else {
        observe_host_work(context, sites, waits);
      }
      observe_input_wait(context, sites, waits);
      observe_samples(context, sites, waits);  // looks at the rows of host work
      observe_lock_waits(context, sites, waits);
      observe_host_costs(context, sites, waits);
      return;
    }
    if (context.work != nullptr) {
      observe_kernels(context, sites, summary);
      observe_graphs(context, sites, rows);
      observe_launch_bound(context, sites, rows);
    }
    observe_collectives(context, sites, summary);
    // Without steps, what every program compiles once cannot be told from what a step compiles.
    if (context.work != nullptr || !context.marks.hosts.empty())
      observe_calls(context, sites, rows);
    observe_overhead(context, sites, rows);
    observe_node(context, sites, rows);
  });
  rows.insert(rows.end(), std::make_move_iterator(waits.begin()),
              std::make_move_iterator(waits.end()));
  put_in_order(rows);
  if (summary.step_median > 0) {
    SiteTable sites(context.index, context.options);
    summary.slow_steps = slow_steps(context, sites);
    summary.startup = startup_phases(context);
  }
  summary.representative = representative_timeline(context);
  fill_memory(context, summary);
}

}  // namespace stallscope
