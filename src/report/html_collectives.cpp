// One rank's collectives by size: how fast, how hidden, and what waits for them.
#include <fmt/format.h>

#include "base/units.h"
#include "report/html_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kMostRows = 20;

std::string number_cell(const Observation& row, const char* field, std::string_view unit) {
  const auto found = row.numbers.find(field);
  if (found == row.numbers.end()) return "<td class=\"n\">unknown</td>";
  if (unit == "bytes") return fmt::format("<td class=\"n\">{}</td>", format_bytes(found->second));
  return fmt::format("<td class=\"n\">{:.2f} {}</td>", found->second, unit);
}

std::string time_cell(const Observation& row, const char* field) {
  return duration_cell(static_cast<Ns>(row.numbers.at(field)));
}

}  // namespace

std::string collective_sizes_html(const RankSummary& rank) {
  std::string rows;
  size_t shown = 0;
  for (const Observation& row : rank.observations) {
    if (row.kind != "collective-size" || ++shown > kMostRows) continue;
    const auto awaited = row.texts.find("awaited_by");
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td>{}<td class=\"n\">{:.0f}</td>{}{}{}{}{}<td>{}</td>"
        "</tr>",
        escaped(row.subject), escaped(row.texts.at("group")), number_cell(row, "bytes", "bytes"),
        row.count.total, time_cell(row, "duration_ns"),
        number_cell(row, "algorithm_gb_per_s", "GB/s"), number_cell(row, "bus_gb_per_s", "GB/s"),
        time_cell(row, "exposed_ns"), time_cell(row, "hidden_ns"),
        awaited == row.texts.end() ? "nothing seen" : escaped(awaited->second));
  }
  if (rows.empty()) return {};
  std::string out = fmt::format(
      "<h3>Collectives by size</h3><p>Of {}: the time of one, exposed and hidden time per step, "
      "and "
      "what goes on as they end.</p>",
      escaped(rank_label(rank)));
  return out +
         scroll(
             "Collectives by size",
             "<table><thead><tr><th scope=\"col\">Collective</th><th scope=\"col\">Group</th><th "
             "scope=\"col\" class=\"n\">Size</th><th scope=\"col\" class=\"n\">Count</th><th "
             "scope=\"col\" class=\"n\">Time of one</th><th scope=\"col\" "
             "class=\"n\">Algorithm</th><th scope=\"col\" class=\"n\">Bus</th><th "
             "scope=\"col\" class=\"n\">Exposed</th><th scope=\"col\" "
             "class=\"n\">Hidden</th><th scope=\"col\">Awaited by</th></tr></thead><tbody>" +
                 rows + "</tbody></table>");
}

}  // namespace stallscope
