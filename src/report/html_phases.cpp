// What the program calls the parts of a step, and what they take.
#include <fmt/format.h>

#include "report/build.h"
#include "report/html_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {

std::string phases_html(const Report& report) {
  const RankSummary* rank = described_rank(report.summary);
  if (rank == nullptr || rank->phases.empty()) return {};
  const bool device = rank->view == RankView::device;
  std::string rows;
  for (const PhaseShare& phase : rank->phases) {
    const bool rest = phase.name.empty();
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td>{}<td class=\"n\">{}</td>{}</tr>",
        rest ? "the rest" : escaped(shortened(phase.name, 72)),
        rest ? "" : fmt::format("{:.3g}", phase.per_step), duration_cell(phase.host),
        percent_text(phase.fraction), device ? duration_cell(phase.device) : "");
  }
  const std::string table = fmt::format(
      "<table class=\"step-phases\"><thead><tr><th scope=\"col\">Phase</th><th scope=\"col\" "
      "class=\"n\">Times</th><th scope=\"col\" class=\"n\">Host time</th><th scope=\"col\" "
      "class=\"n\">Share</th>{}</tr></thead><tbody>{}</tbody></table>",
      device ? "<th scope=\"col\" class=\"n\">Device work</th>" : "", rows);
  return fmt::format(
             "<h3>Phases of a step of {}</h3><p>Host time inside the ranges that the program, its "
             "framework or the recorder put on the step\xE2\x80\x99s thread, each instant "
             "once.{}</p>",
             escaped(rank_label(*rank)),
             device ? " Device work is that which was launched there, its streams added up." : "") +
         scroll("Phases of a step", table);
}

}  // namespace stallscope
