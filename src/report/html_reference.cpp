// The reference beside the run, as the section of report.html and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/html_parts.h"
#include "report/json_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

std::string time_cell(const std::optional<double>& ns) {
  return ns ? duration_cell(static_cast<Ns>(*ns)) : "<td class=\"n\">unknown</td>";
}

std::string difference_cell(const std::optional<double>& ns) {
  if (!ns) return "<td class=\"n\">unknown</td>";
  return fmt::format("<td class=\"n\" title=\"{:.0f} ns\">{}{}</td>", *ns,
                     *ns < 0 ? "\xE2\x88\x92" : "+", escaped(duration_text(std::abs(*ns))));
}

std::string table(std::string_view label, std::string_view first,
                  const std::vector<ReferenceRow>& rows, bool work) {
  std::string out = fmt::format(
      "<table><thead><tr><th scope=\"col\">{}</th><th scope=\"col\" class=\"n\">This run</th>"
      "<th scope=\"col\" class=\"n\">Reference</th><th scope=\"col\" class=\"n\">Difference</th>",
      first);
  if (work)
    out +=
        "<th scope=\"col\" class=\"n\">Launches</th><th scope=\"col\" class=\"n\">Reference's "
        "launches</th><th scope=\"col\" class=\"n\">Reference's GFLOP</th>"
        "<th scope=\"col\" class=\"n\">Reference's bytes</th>";
  out += "</tr></thead><tbody>";
  const auto count = [](const std::optional<double>& value, double unit) {
    return value ? fmt::format("<td class=\"n\">{:.1f}</td>", *value / unit)
                 : std::string("<td class=\"n\">unknown</td>");
  };
  for (const ReferenceRow& row : rows) {
    out +=
        fmt::format("<tr><th scope=\"row\">{}</th>{}{}{}", escaped(row.name), time_cell(row.run_ns),
                    time_cell(row.reference_ns), difference_cell(row.difference_ns()));
    if (work)
      out += count(row.run_launches, 1) + count(row.reference_launches, 1) +
             count(row.reference_flops, 1e9) +
             (row.reference_bytes
                  ? "<td class=\"n\">" + escaped(format_bytes(*row.reference_bytes)) + "</td>"
                  : std::string("<td class=\"n\">unknown</td>"));
    out += "</tr>";
  }
  return scroll(label, out + "</tbody></table>");
}

}  // namespace

std::string reference_html(const ReferenceComparison& it) {
  std::string out = "<p>" + escaped(it.description) + "</p>";
  if (!it.refused.empty()) return out + empty_html("Not compared: " + escaped(it.refused) + ".");
  out += fmt::format(
      "<p>A step of this run takes <strong>{}</strong>, one of the reference {}: {:.2f} times as "
      "long.</p>",
      escaped(duration_text(static_cast<double>(it.run_step))),
      escaped(duration_text(static_cast<double>(it.reference_step))),
      static_cast<double>(it.run_step) / static_cast<double>(it.reference_step));
  out += table("Step time beside the reference", "Where the step goes", it.classes, false);
  out += table("Kernel time beside the reference", "Kernel time per step", it.groups, true);
  if (!it.not_like_for_like.empty()) {
    out += "<p>Not like for like:</p><ul>";
    for (const std::string& note : it.not_like_for_like) out += "<li>" + escaped(note) + "</li>";
    out += "</ul>";
  }
  return out;
}

Json reference_json(const ReferenceComparison& it) {
  const auto value = [](const std::optional<double>& number) {
    return number ? Json(*number) : Json();
  };
  const auto rows = [&](const std::vector<ReferenceRow>& from) {
    Json out = Json::array();
    for (const ReferenceRow& row : from)
      out.push_back({{"name", row.name},
                     {"runNs", value(row.run_ns)},
                     {"referenceNs", value(row.reference_ns)},
                     {"differenceNs", value(row.difference_ns())},
                     {"runLaunches", value(row.run_launches)},
                     {"referenceLaunches", value(row.reference_launches)},
                     {"referenceFlops", value(row.reference_flops)},
                     {"referenceBytes", value(row.reference_bytes)}});
    return out;
  };
  return {{"source", it.source},
          {"description", it.description},
          {"refused", text_or_null(it.refused)},
          {"stepTimeNs", it.run_step > 0 ? Json(it.run_step) : Json()},
          {"referenceStepTimeNs", it.reference_step > 0 ? Json(it.reference_step) : Json()},
          {"classes", rows(it.classes)},
          {"groups", rows(it.groups)},
          {"notLikeForLike", it.not_like_for_like}};
}

}  // namespace stallscope
