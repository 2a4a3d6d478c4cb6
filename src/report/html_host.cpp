// Where the host's time inside steps goes: known costs, and the hottest Python
// functions and lines.
#include <fmt/format.h>

#include <algorithm>

#include "report/build.h"
#include "report/html_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kMaxRows = 20;

std::string place_cell(const Place& place) {
  return fmt::format("<td>{}</td>", place.known() ? escaped(place_text(place)) : "\xE2\x80\x94");
}

std::string time_cell(const Observation& row, const char* field) {
  return duration_cell(static_cast<Ns>(row.numbers.at(field)));
}

std::string share_cell(const Observation& row, const char* field) {
  return fmt::format("<td class=\"n\">{}</td>", percent_text(row.numbers.at(field)));
}

std::string table(std::string_view label, std::string_view head, const std::string& rows) {
  return scroll(
      label, fmt::format("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", head, rows));
}

std::vector<const Observation*> rows_of(const RankSummary& rank, std::string_view kind,
                                        const char* by) {
  std::vector<const Observation*> rows;
  for (const Observation& row : rank.observations)
    if (row.kind == kind) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater{},
                           [by](const Observation* row) { return row->numbers.at(by); });
  if (rows.size() > kMaxRows) rows.resize(kMaxRows);
  return rows;
}

std::string costs_table(const RankSummary& rank) {
  std::string rows;
  for (const Observation* row : rows_of(rank, "host-cost", "duration_ns"))
    rows += fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}</tr>", escaped(row->subject),
                        time_cell(*row, "duration_ns"), share_cell(*row, "fraction"),
                        place_cell(row->place));
  if (rows.empty()) return {};
  return table("Host time by known cost",
               "<th scope=\"col\">Known cost</th><th scope=\"col\" class=\"n\">Per step</th><th "
               "scope=\"col\" class=\"n\">Share</th><th scope=\"col\">Mostly from</th>",
               rows);
}

// What most of a row's own time is spent in, below Python.
std::string native_cell(const Observation& row) {
  const auto native = row.texts.find("native");
  if (native == row.texts.end()) return "<td>\xE2\x80\x94</td>";
  return fmt::format("<td><code>{}</code> {}</td>", escaped(shortened(native->second, 60)),
                     percent_text(row.numbers.at("native_fraction")));
}

std::string hot_table(const RankSummary& rank, std::string_view kind, std::string_view heading,
                      std::string_view what) {
  const std::vector<const Observation*> hottest = rows_of(rank, kind, "self_ns");
  const bool natives = std::ranges::any_of(
      hottest, [](const Observation* row) { return row->texts.contains("native"); });
  std::string rows;
  for (const Observation* row : hottest)
    rows += fmt::format("<tr><th scope=\"row\"><code>{}</code></th>{}{}{}{}{}{}</tr>",
                        escaped(shortened(row->place.function, 60)),
                        place_cell({row->place.file, row->place.line, 0, "", "python"}),
                        time_cell(*row, "self_ns"), share_cell(*row, "self_fraction"),
                        time_cell(*row, "duration_ns"), share_cell(*row, "fraction"),
                        natives ? native_cell(*row) : "");
  if (rows.empty()) return {};
  return fmt::format(
      "<details class=\"sub\"><summary>{}</summary>{}</details>", heading,
      table(heading,
            fmt::format("<th scope=\"col\">Function</th><th scope=\"col\">{}</th><th "
                        "scope=\"col\" class=\"n\">Own</th><th scope=\"col\" "
                        "class=\"n\">Share</th><th scope=\"col\" "
                        "class=\"n\">Inclusive</th><th scope=\"col\" "
                        "class=\"n\">Share</th>{}",
                        what,
                        natives ? "<th scope=\"col\">Own time mostly in, where known</th>" : ""),
            rows));
}

}  // namespace

std::string host_costs_html(const Report& report) {
  const RankSummary* rank = slowest_rank(report.summary);
  if (rank == nullptr && !report.summary.ranks.empty()) rank = &report.summary.ranks.front();
  if (rank == nullptr) return {};
  const std::string tables =
      costs_table(*rank) +
      hot_table(*rank, "hot-function", "Hottest Python functions in steps", "File") +
      hot_table(*rank, "hot-line", "Hottest Python lines in steps", "Line");
  if (tables.empty()) return {};
  return fmt::format(
      "<h3>Where the host time of {} goes</h3><p>Per step, by stack samples of the "
      "step\xE2\x80\x99s "
      "thread, whether or not the device waits for it. Own time excludes what a function "
      "calls.</p>{}",
      escaped(rank_label(*rank)), tables);
}

std::string graphs_html(const RankSummary& rank) {
  std::string rows;
  size_t shown = 0;
  for (const Observation& row : rank.observations) {
    if (row.kind != "graph-capture" || ++shown > kMaxRows) continue;
    const auto at = row.texts.find("replayed_at");
    const bool by_node = row.numbers.contains("duration_ns");
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th>{}<td class=\"n\">{:.0f}</td><td class=\"n\">{:.0f}</td>{}{}"
        "<td>{}</td></tr>",
        escaped(row.subject), place_cell(row.place), row.numbers.at("nodes"),
        row.numbers.at("replays"),
        by_node ? time_cell(row, "duration_ns") : "<td class=\"n\">unknown</td>",
        by_node ? "<td class=\"n\">\xE2\x80\x94</td>" : time_cell(row, "graph_ns"),
        at == row.texts.end() ? "\xE2\x80\x94" : escaped(at->second));
  }
  if (rows.empty()) return {};
  return "<h3>CUDA graphs by the lines that captured them</h3>" +
         table("CUDA graphs by line",
               "<th scope=\"col\">Graph</th><th scope=\"col\">Captured at</th><th scope=\"col\" "
               "class=\"n\">Nodes</th><th scope=\"col\" class=\"n\">Replays</th><th scope=\"col\" "
               "class=\"n\">Their time</th><th scope=\"col\" class=\"n\">Graph</th><th "
               "scope=\"col\">Replayed at</th>",
               rows);
}

}  // namespace stallscope
