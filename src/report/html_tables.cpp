// Lower sections of the page: timeline, ranks, start-up, steps, kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/cpp_names.h"
#include "report/build.h"
#include "report/html_parts.h"
#include "report/lanes.h"
#include "report/present.h"
#include "report/skew.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kMaxRankRows = 64;  // slowest first; the JSON has all
constexpr size_t kMaxKernelRows = 60;
constexpr size_t kMaxSkewRows = 20;
constexpr size_t kMaxStepRows = 300;
constexpr size_t kMaxSliceRows = 40;

std::vector<const RankSummary*> slowest_first(const RunSummary& summary) {
  std::vector<const RankSummary*> ranks;
  for (const RankSummary& rank : summary.ranks) ranks.push_back(&rank);
  std::ranges::stable_sort(ranks, std::greater{},
                           [](const RankSummary* r) { return r->step_median; });
  return ranks;
}

/// Shade 0 to 10 of a heatmap cell.
int shade(double fraction) {
  return static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * 10));
}

std::string heat_row(const RankSummary& rank, const RankSummary* slowest) {
  std::string out =
      fmt::format("<tr id=\"rank={}\"><th scope=\"row\">{}{}</th>",
                  rank.rank >= 0 ? fmt::format("{}", rank.rank) : fmt::format("pid-{}", rank.pid),
                  escaped(rank_short_label(rank)),
                  !rank.abstentions.empty() ? " <em>no verdict</em>"
                  : &rank == slowest        ? " <em>slowest</em>"
                                            : "");
  out += fmt::format("<td>{}</td><td class=\"n\">{}</td>", escaped(rank.host),
                     rank.device >= 0 ? fmt::format("{}", rank.device) : "\xE2\x80\x94");
  out += rank.step_median > 0 ? duration_cell(rank.step_median) : "<td class=\"n\">unknown</td>";
  const double total = static_cast<double>(rank.mean_breakdown.total());
  for (const StepClass c : step_classes()) {
    if (total <= 0) {
      out += "<td class=\"n\">\xE2\x80\x94</td>";
      continue;
    }
    const double fraction = static_cast<double>(rank.mean_breakdown[c]) / total;
    out += fmt::format("<td class=\"n heat h{}\" title=\"{} ns per step\">{}</td>", shade(fraction),
                       rank.mean_breakdown[c], percent_text(fraction));
  }
  out += rank.peak_memory > 0 ? fmt::format("<td class=\"n\">{}</td>",
                                            format_bytes(static_cast<double>(rank.peak_memory)))
                              : "<td class=\"n\">unknown</td>";
  return out + "</tr>";
}

std::string skew_table(const RunSummary& summary) {
  const std::vector<CollectiveSkew> rows = collective_skew(summary);
  if (rows.empty())
    return empty_html("No arrival skew: the trace holds no collective that was seen on two ranks.");
  std::string out =
      "<table><thead><tr><th scope=\"col\">Collective</th><th scope=\"col\">Group</th><th "
      "scope=\"col\" class=\"n\">Count"
      "</th><th scope=\"col\" class=\"n\">Time others waited</th><th scope=\"col\" "
      "class=\"n\">Last to arrive</th><th "
      "scope=\"col\" class=\"n\">How often</th></tr></thead><tbody>";
  for (size_t i = 0; i < rows.size() && i < kMaxSkewRows; ++i) {
    const CollectiveSkew& row = rows[i];
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td>{}<td class=\"n\">rank "
        "{}</td><td "
        "class=\"n\">{} of {}</td></tr>",
        escaped(row.name), escaped(row.group), row.count, duration_cell(row.wait), row.late_rank,
        row.late_count, row.count);
  }
  return scroll("Arrival skew of collectives", out + "</tbody></table>");
}

std::string slow_steps_table(const RankSummary& rank) {
  if (rank.slow_steps.empty()) return empty_html("No step stands out from the median.");
  std::string out =
      "<table><thead><tr><th scope=\"col\" class=\"n\">Step</th><th scope=\"col\" "
      "class=\"n\">Time</th><th scope=\"col\">Likely "
      "cause</th><th scope=\"col\">Difference from the median step</th></tr></thead><tbody>";
  for (const SlowStep& slow : rank.slow_steps) {
    std::vector<StepClass> order(step_classes().begin(), step_classes().end());
    std::ranges::stable_sort(order, std::greater{},
                             [&](StepClass c) { return std::abs(slow.difference[c]); });
    std::string difference;
    for (const StepClass c : order)
      if (slow.difference[c] != 0)
        difference +=
            fmt::format("{}{} {}{}", difference.empty() ? "" : ", ", class_label(c),
                        slow.difference[c] > 0 ? "+" : "\xE2\x88\x92",
                        escaped(duration_text(static_cast<double>(std::abs(slow.difference[c])))));
    out +=
        fmt::format("<tr><th scope=\"row\" class=\"n\">{}</th>{}<td>{}</td><td>{}</td></tr>",
                    slow.step, duration_cell(slow.duration),
                    slow.likely_cause.empty() ? "unknown" : escaped(slow.likely_cause), difference);
  }
  return scroll("Slowest steps", out + "</tbody></table>");
}

std::string step_table(const RankSummary& rank) {
  std::string table =
      "<table><thead><tr><th scope=\"col\" class=\"n\">Step</th><th scope=\"col\" "
      "class=\"n\">Time</th><th scope=\"col\">Used</th></tr></thead><tbody>";
  for (size_t i = 0; i < rank.steps.size() && i < kMaxStepRows; ++i) {
    const Step& step = rank.steps[i];
    table +=
        fmt::format("<tr><th scope=\"row\" class=\"n\">{}</th>{}<td>{}</td></tr>", step.index,
                    duration_cell(step.window_end - step.window_start), step_use_name(step.use));
  }
  std::string out =
      fmt::format("<details class=\"sub\"><summary>Table of the steps of {}</summary>{}",
                  escaped(rank_label(rank)), scroll("Steps", table + "</tbody></table>"));
  if (rank.steps.size() > kMaxStepRows)
    out += fmt::format("<p class=\"fine\">The first {} of {} steps; report.json has all.</p>",
                       kMaxStepRows, rank.steps.size());
  return out + "</details>";
}

std::string slice_table(const RankSummary& rank) {
  const Timeline& timeline = rank.representative;
  std::vector<const Slice*> slices;
  for (const Slice& slice : timeline.slices) slices.push_back(&slice);
  std::ranges::stable_sort(slices, std::greater{}, [](const Slice* s) { return s->duration; });
  std::string table =
      "<table><thead><tr><th scope=\"col\">Slice</th><th scope=\"col\">Track</th>"
      "<th scope=\"col\" class=\"n\">Starts at</th><th scope=\"col\" "
      "class=\"n\">Time</th></tr></thead><tbody>";
  for (size_t i = 0; i < slices.size() && i < kMaxSliceRows; ++i) {
    const Slice& slice = *slices[i];
    table += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td>{}{}</tr>",
        escaped(shortened(slice.name, 90)),
        slice.track < timeline.tracks.size() ? escaped(timeline.tracks[slice.track]) : "",
        duration_cell(slice.start), duration_cell(slice.duration));
  }
  return fmt::format(
      "<details class=\"sub\"><summary>Table: the longest slices of {}</summary>{}</details>",
      escaped(rank_label(rank)), scroll("Longest slices", table + "</tbody></table>"));
}

}  // namespace

std::string scroll(std::string_view label, const std::string& table) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>", label,
      table);
}

std::string timeline_html(const Report& report) {
  const std::vector<const RankSummary*> ranks = slowest_first(report.summary);
  const auto shown = std::ranges::find_if(
      ranks, [](const RankSummary* r) { return !r->representative.slices.empty(); });
  if (shown == ranks.end())
    return empty_html("No timeline: no step could be chosen to represent the others.");
  return "<p>One step per rank, the one whose length is the median. <kbd>W</kbd> <kbd>S</kbd> "
         "zoom, <kbd>A</kbd> <kbd>D</kbd> "
         "move, <kbd>,</kbd> <kbd>.</kbd> choose the previous or next slice, <kbd>F</kbd> fits it, "
         "<kbd>?</kbd> shows all "
         "keys.</p><div id=\"timeline-view\" hidden></div><noscript><p class=\"empty\">The "
         "timeline is drawn by a script, and "
         "scripts are off. Its longest slices are in the table.</p></noscript>" +
         slice_table(**shown);
}

std::string ranks_html(const Report& report) {
  const std::vector<const RankSummary*> ranks = slowest_first(report.summary);
  if (ranks.empty()) return empty_html("No ranks: no process left any events.");
  std::string out = fmt::format(
      "<p>Share of each rank\xE2\x80\x99s step by class{}. A darker cell is a larger share.</p>",
      ranks.size() > 1 ? ", slowest rank first" : "");
  std::string table =
      "<table class=\"heatmap\"><thead><tr><th scope=\"col\">Rank</th><th "
      "scope=\"col\">Host</th><th scope=\"col\" class=\"n\">"
      "Device</th><th scope=\"col\" class=\"n\">Median step</th>";
  for (const StepClass c : step_classes())
    table += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", class_label(c));
  table += "<th scope=\"col\" class=\"n\">Peak memory</th></tr></thead><tbody>";
  // One rank alone is not the slowest of any.
  const RankSummary* slowest = ranks.size() > 1 ? slowest_rank(report.summary) : nullptr;
  for (size_t i = 0; i < ranks.size() && i < kMaxRankRows; ++i)
    table += heat_row(*ranks[i], slowest);
  out += scroll("Ranks by class", table + "</tbody></table>");
  if (ranks.size() > kMaxRankRows)
    out += fmt::format("<p class=\"fine\">The {} slowest of {} ranks; report.json has all.</p>",
                       kMaxRankRows, ranks.size());
  out +=
      "<h3>Who waits for whom</h3><p>All ranks leave a collective together, so a rank\xE2\x80\x99s "
      "wait is its time in the "
      "collective less the shortest time among its ranks.</p>";
  out += skew_table(report.summary);
  const RankSummary* shown = slowest_rank(report.summary);
  if (shown == nullptr && !ranks.empty()) shown = ranks.front();
  return shown == nullptr ? out : out + collective_sizes_html(*shown);
}

std::string startup_html(const Report& report) {
  const RankSummary* rank = longest_startup(report.summary);
  if (rank == nullptr)
    return empty_html(
        "No start-up phases: the recording begins after the first step, or names none.");
  const double total = static_cast<double>(startup_total(*rank));
  std::string out = fmt::format("<p>{} passed before the first steady step of {}.</p>",
                                escaped(duration_text(total)), escaped(rank_label(*rank)));
  out +=
      "<table class=\"phases\"><thead><tr><th scope=\"col\">Phase</th><th scope=\"col\" "
      "class=\"n\">Time</th><th scope=\"col\" "
      "class=\"n\">Share</th><th scope=\"col\"><span "
      "class=\"sr\">Bar</span></th></tr></thead><tbody>";
  for (const StartupPhase& phase : rank->startup) {
    const double share = total > 0 ? static_cast<double>(phase.duration) / total : 0;
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th>{}<td class=\"n\">{}</td><td class=\"track\"><svg "
        "class=\"meter\" viewBox=\"0 0 "
        "100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"{:.2f}\" "
        "height=\"10\"/></svg></td></tr>",
        escaped(phase.name), duration_cell(phase.duration), percent_text(share), share * 100);
  }
  out += "</tbody></table>";
  std::string once;
  for (const Finding& finding : report.findings)
    if (finding.gain && finding.gain->one_time)
      once +=
          fmt::format("<li><a href=\"#finding={}\">{}</a>, {}</li>", escaped(finding.fingerprint),
                      escaped(finding.title), escaped(gain_text(finding)));
  return out + (once.empty() ? "" : "<h3>Findings that cost once</h3><ul>" + once + "</ul>");
}

std::string steps_html(const Report& report) {
  const std::vector<const RankSummary*> ranks = slowest_first(report.summary);
  const auto with_steps =
      std::ranges::find_if(ranks, [](const RankSummary* r) { return !r->steps.empty(); });
  if (with_steps == ranks.end())
    return empty_html("No steps: no marker names them and the launches show no period.");
  const RankSummary& rank = **with_steps;
  return "<div id=\"series-view\" hidden></div>" + step_table(rank) + "<h3>Slowest steps</h3>" +
         slow_steps_table(rank);
}

std::string kernels_html(const Report& report) {
  const std::vector<const RankSummary*> ranks = slowest_first(report.summary);
  const auto with_kernels =
      std::ranges::find_if(ranks, [](const RankSummary* r) { return !r->kernels.empty(); });
  if (with_kernels == ranks.end()) return empty_html("No kernels: the trace holds no device work.");
  const RankSummary& rank = **with_kernels;
  std::string out = fmt::format("<p>Kernels of {} by their time in the whole trace.</p>",
                                escaped(rank_label(rank)));
  std::string table =
      "<table class=\"kernels\"><thead><tr><th scope=\"col\">Kernel</th><th "
      "scope=\"col\">Operator</th><th scope=\"col\">Line</th><th "
      "scope=\"col\" class=\"n\">Count</th><th scope=\"col\" class=\"n\">Median</th><th "
      "scope=\"col\" class=\"n\">Total</th></tr></thead><tbody>";
  for (size_t i = 0; i < rank.kernels.size() && i < kMaxKernelRows; ++i) {
    const KernelRow& row = rank.kernels[i];
    table += fmt::format(
        "<tr><th scope=\"row\"><code title=\"{}\">{}</code></th><td>{}</td><td>{}</td><td "
        "class=\"n\">{}</td>{}{}</tr>",
        escaped(row.name), escaped(shortened(without_namespaces(row.name), 72)),
        row.op.empty() ? "\xE2\x80\x94" : escaped(row.op),
        row.place.known() ? escaped(place_text(row.place)) : "\xE2\x80\x94", row.count,
        duration_cell(row.median), duration_cell(row.total));
  }
  out += scroll("Kernels by time", table + "</tbody></table>");
  if (rank.kernels.size() > kMaxKernelRows)
    out += fmt::format("<p class=\"fine\">The first {} of {}; report.json has more.</p>",
                       kMaxKernelRows, rank.kernels.size());
  return out + kernel_shares_html(rank);
}

}  // namespace stallscope
