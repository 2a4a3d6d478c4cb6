// Top of the page: headline, trust strip, where a step's time goes, the run.
#include <fmt/format.h>

#include <algorithm>

#include "report/annotated.h"
#include "report/build.h"
#include "report/html_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

std::string figure(std::string_view value, std::string_view unit, std::string_view label,
                   std::string_view note) {
  return fmt::format(
      "<div class=\"figure\"><dt>{}</dt><dd><strong>{}</strong>{}{}</dd></div>",
      escape_markup(label), escape_markup(value),
      unit.empty() ? "" : fmt::format(" <span class=\"unit\">{}</span>", escape_markup(unit)),
      note.empty() ? "" : fmt::format("<span class=\"note\">{}</span>", escape_markup(note)));
}

/// "12.8 ms" split into value and unit.
std::pair<std::string, std::string> parts_of(const std::string& text) {
  const size_t space = text.find(' ');
  return {text.substr(0, space), space == std::string::npos ? "" : text.substr(space + 1)};
}

std::string step_figure(const StepTime& time) {
  const auto [value, unit] = parts_of(duration_text(static_cast<double>(time.median)));
  const std::string interval =
      time.low > 0 && time.high >= time.low
          ? fmt::format("95 % interval {} to {}{}", duration_text(static_cast<double>(time.low)),
                        duration_text(static_cast<double>(time.high)), mean_text(time))
          : "interval unknown";
  return figure(value, unit, "Median step", interval);
}

std::string recoverable_figure(const Report& report) {
  const double step = static_cast<double>(report.step_time->mean);
  if (!report.recoverable)
    return figure("unknown", "", "Recoverable", "no finding could be priced");
  const Gain::Range& range = *report.recoverable;
  if (range.high == 0)
    return figure("0", "%", "Recoverable", "no rule found a stall that costs time");
  const auto [value, unit] = parts_of(percent_text(static_cast<double>(range.mid) / step));
  return figure("\xE2\x89\x88 " + value, unit, "Recoverable",
                fmt::format("{} to {} of the step; gains overlap",
                            percent_text(static_cast<double>(range.low) / step),
                            percent_text(static_cast<double>(range.high) / step)));
}

std::string lead_html(const Report& report) {
  std::string out = fmt::format("<p class=\"lead\">{}", escape_markup(verdict_text(report)));
  if (!report.findings.empty() && report.step_time) {
    const Finding& first = report.findings.front();
    if (first.gain && first.gain->step_time)
      out +=
          fmt::format(" Largest single gain: <a href=\"#finding={}\">{}</a>{}, {}.",
                      escape_markup(first.fingerprint), escape_markup(one_line(first.title)),
                      primary_place(first).known()
                          ? fmt::format(" <span class=\"where\">({})</span>",
                                        escape_markup(one_line(place_text(primary_place(first)))))
                          : "",
                      escape_markup(gain_text(first)));
  }
  return out + "</p>";
}

std::string abstain_html(const Report& report) {
  std::string out =
      "<div class=\"abstain\" role=\"note\"><p><strong>No verdict.</strong> The data cannot carry "
      "one, so "
      "none is given:</p><ul>";
  for (const std::string& reason : abstentions(report.summary))
    out += fmt::format("<li>{}</li>", escape_markup(reason));
  out += "</ul><p>";
  const bool has_findings = !report.findings.empty();
  out += has_findings
             ? "The findings below hold for the lines and steps that were seen; how typical "
               "their costs are is unknown."
             : "Nothing below depends on step times.";
  return out + "</p></div>";
}

struct TrustItem {
  std::string label, value;
  enum class Mark { good, warn, unknown } mark;
};

std::string_view mark_text(TrustItem::Mark mark) {
  switch (mark) {
    case TrustItem::Mark::good:
      return "good";
    case TrustItem::Mark::warn:
      return "check";
    case TrustItem::Mark::unknown:
      return "unknown";
  }
  return "";
}

TrustItem known(std::string label, const std::optional<double>& fraction, double limit) {
  if (!fraction) return {std::move(label), "unknown", TrustItem::Mark::unknown};
  return {std::move(label), percent_text(*fraction),
          *fraction <= limit ? TrustItem::Mark::good : TrustItem::Mark::warn};
}

std::vector<TrustItem> trust_items(const Report& report) {
  using Mark = TrustItem::Mark;
  uint64_t lost = 0, repairs = 0, holes = 0;
  double residual = -1;
  bool cut = false;
  for (const RankSummary& rank : report.summary.ranks) {
    lost += rank.health.lost_records + rank.health.discarded_oldest;
    holes += rank.health.holes.size();
    cut = cut || rank.health.cut_short;
    residual = std::max(residual, rank.health.clock_residual_ns);
    for (const auto& [what, times] : rank.health.repairs) repairs += times;
  }
  // 2 % is the most that recording may cost, and 10 % what a replay may err, before a reader should
  // care.
  constexpr double kOverheadLimit = 0.02, kReplayLimit = 0.10;
  const double kResidualLimitNs = 10'000;  // a tenth of a typical launch-to-launch distance
  std::vector<TrustItem> items;
  items.push_back({"Steps",
                   fmt::format("{} used, {} discarded", report.steps_used, report.steps_discarded),
                   report.step_time && report.steps_used >= 10 ? Mark::good : Mark::warn});
  items.push_back(known("Recorder\xE2\x80\x99s own cost",
                        report.overhead.paired_difference ? report.overhead.paired_difference
                                                          : report.overhead.own_fraction,
                        kOverheadLimit));
  const bool any = !report.summary.ranks.empty();
  items.push_back({"Lost events", any ? fmt::format("{}", lost) : "unknown",
                   !any        ? Mark::unknown
                   : lost == 0 ? Mark::good
                               : Mark::warn});
  items.push_back({"Clock error", residual < 0 ? "unknown" : "\xC2\xB1 " + duration_text(residual),
                   residual < 0                  ? Mark::unknown
                   : residual < kResidualLimitNs ? Mark::good
                                                 : Mark::warn});
  if (const ClockAlignment& clocks = report.summary.clocks; clocks.residual >= 0)
    items.push_back({"Clocks of ranks",
                     fmt::format("aligned by {} collectives, \xC2\xB1 {}", clocks.collectives,
                                 duration_text(static_cast<double>(clocks.residual))),
                     Mark::good});
  items.push_back(known("Replay error", report.replay_error, kReplayLimit));
  if (cut) items.push_back({"Recording", "cut short", Mark::warn});
  if (holes > 0) items.push_back({"Capture holes", fmt::format("{}", holes), Mark::warn});
  if (repairs > 0) items.push_back({"Repairs on import", fmt::format("{}", repairs), Mark::warn});
  return items;
}

std::string hardware_line(const Report& report) {
  std::string out;
  for (const char* key :
       {"gpu.name", "cpu.model", "driver.version", "cuda.version", "torch.version"})
    if (const auto at = report.environment.find(key); at != report.environment.end())
      out += fmt::format("{}{}", out.empty() ? "" : " \xC2\xB7 ",
                         key == std::string_view("driver.version")  ? "driver " + at->second
                         : key == std::string_view("cuda.version")  ? "CUDA " + at->second
                         : key == std::string_view("torch.version") ? "PyTorch " + at->second
                                                                    : at->second);
  return out;
}

/// Communication of the whole trace, split into exposed and hidden.
std::string communication_html(const RankSummary& rank) {
  if (rank.view == RankView::host || rank.gpu.communication <= 0) return {};
  const double all = static_cast<double>(rank.gpu.communication);
  const double exposed = static_cast<double>(rank.gpu.exposed_communication);
  return fmt::format(
      "<p class=\"fine\">Communication in the whole trace: {}, of which {} ({}) is exposed and {} "
      "({}) hidden "
      "behind compute.</p>",
      escape_markup(duration_text(all)), escape_markup(duration_text(exposed)),
      percent_text(exposed / all), escape_markup(duration_text(all - exposed)),
      percent_text(1 - exposed / all));
}

}  // namespace

std::string empty_html(std::string_view why) {
  return fmt::format("<p class=\"empty\">{}</p>", escape_markup(why));
}

std::string duration_cell(Ns duration) {
  return fmt::format("<td class=\"n\" title=\"{} ns\">{}</td>", duration,
                     escape_markup(duration_text(static_cast<double>(duration))));
}

std::string headline_html(const Report& report) {
  if (!report.step_time) return abstain_html(report);
  std::string out = "<dl class=\"figures\">";
  out += step_figure(*report.step_time);
  out += recoverable_figure(report);
  const double per_second = 1e9 / static_cast<double>(report.step_time->mean);
  out += figure(fmt::format("{:.3g}", per_second), "steps/s", "Throughput", "at the mean step");
  const size_t ranks = report.summary.ranks.size();
  const RankSummary* slowest = slowest_rank(report.summary);
  out += figure(
      fmt::format("{}", ranks), ranks == 1 ? "process" : "ranks", "Measured on",
      ranks == 1 ? rank_label(*slowest) : "figures are of the slowest: " + rank_label(*slowest));
  return out + "</dl>" + lead_html(report);
}

std::string trust_html(const Report& report) {
  std::string out = "<ul class=\"chips\">";
  for (const TrustItem& item : trust_items(report))
    out += fmt::format(
        "<li class=\"chip {0}\"><span class=\"mark\" aria-hidden=\"true\"></span><span "
        "class=\"what\">{1}</span> "
        "<span class=\"value\">{2}</span>{3}</li>",
        mark_text(item.mark), escape_markup(item.label), escape_markup(item.value),
        item.mark == TrustItem::Mark::warn ? "<span class=\"sr\"> (check)</span>" : "");
  out += "</ul>";
  if (const std::string hardware = hardware_line(report); !hardware.empty())
    out += fmt::format("<p class=\"fine\">{}</p>", escape_markup(one_line(hardware)));
  if (!report.warnings.empty() || !report.errors.empty()) {
    out += fmt::format(
        "<details class=\"warnings\" open><summary>{} to know about this run</summary><ul>",
        report.warnings.size() + report.errors.size() == 1 ? "One thing" : "Things");
    for (const Error& error : report.errors)
      out += fmt::format("<li><strong>{}</strong>{}</li>", escape_markup(error.message),
                         error.remedy.empty() ? "" : " (" + escape_markup(error.remedy) + ")");
    for (const std::string& warning : report.warnings)
      out += fmt::format("<li>{}</li>", escape_markup(warning));
    out += "</ul></details>";
  }
  return out;
}

std::string breakdown_html(const Report& report) {
  const RankSummary* rank = described_rank(report.summary);
  if (rank == nullptr || rank->mean_breakdown.total() <= 0)
    return empty_html("No breakdown: no step could be used. The reasons are stated above.");
  const uint32_t used = count_steps(*rank).used;
  const ClassTimes& times = rank->mean_breakdown;
  const double total = static_cast<double>(times.total());
  std::string out = fmt::format(
      "<p>Every instant of a step belongs to exactly one class, so the parts sum to 100 % of its "
      "wall time. {} of {}, {}{}.</p>",
      used == 1 ? "This is the one step that could be used"
                : fmt::format("Mean over the {} used steps", used),
      escape_markup(rank_label(*rank)),
      rank->view == RankView::device
          ? "seen from the device"
          : "seen from the thread that runs the steps, because the process ran no device work",
      report.step_time ? "" : "; how typical it is, is unknown");
  out += class_bar_svg(
      times,
      "Stacked bar of a step\xE2\x80\x99s wall time by class; the table below has the values");
  out +=
      "<table class=\"legend\"><caption class=\"sr\">Step time by class</caption><thead><tr><th "
      "scope=\"col\">Class"
      "</th><th scope=\"col\" class=\"n\">Share</th><th scope=\"col\" class=\"n\">Time per "
      "step</th><th scope=\"col\" "
      "class=\"wide\">Meaning</th></tr></thead><tbody>";
  for (const StepClass c : step_classes()) {
    const std::string_view meaning = class_meaning(c, rank->view);
    if (meaning.empty() && times[c] == 0) continue;
    out += fmt::format(
        "<tr{}><th scope=\"row\"><svg class=\"swatch\" viewBox=\"0 0 12 12\" "
        "aria-hidden=\"true\"><rect class=\"c-{}\" "
        "width=\"12\" height=\"12\"/></svg>{}</th><td class=\"n\">{}</td>{}<td "
        "class=\"wide\">{}</td></tr>",
        times[c] == 0 ? " class=\"zero\"" : "", to_string(c), class_label(c),
        percent_text(static_cast<double>(times[c]) / total), duration_cell(times[c]), meaning);
  }
  out += "</tbody></table>";
  out += communication_html(*rank);
  if (rank->view == RankView::device)
    out +=
        "<p class=\"fine\">Share of the device\xE2\x80\x99s peak: unknown, the recording holds no "
        "count of operations.</p>";
  return out;
}

std::string run_html(const Report& report) {
  std::string rows;
  const auto row = [&](std::string_view key, std::string_view value) {
    if (!value.empty())
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                          escape_markup(one_line(key)), escape_markup(one_line(value)));
  };
  row("Run", report.run.id);
  row("Started", report.run.started_at);
  row("Command", command_text(report.run));
  if (report.run.exit_code) row("Exit code", fmt::format("{}", *report.run.exit_code));
  for (const std::string& input : report.inputs) row("Input", input);
  if (const std::optional<Annotated> annotated = annotated_of(report.environment)) {
    row("Annotated", joined(annotated->marked));
    row("Could not be annotated", joined(annotated->left_out));
    row("Cost of annotations",
        fmt::format("{} calls, {} in all (the interpreter\xE2\x80\x99s own calls of them not "
                    "included)",
                    annotated->calls, duration_text(annotated->own_ns)));
  }
  for (const auto& [key, value] : report.environment)
    if (!key.starts_with(kAnnotatedPrefix)) row(key, value);
  if (rows.empty())
    return empty_html(
        "Nothing is known about the run: the input names neither command nor machine.");
  return scroll("Run and environment",
                "<table class=\"facts\"><tbody>" + rows + "</tbody></table>");
}

std::string comparison_html(const Report& report) {
  if (report.reference) return reference_html(*report.reference);
  return empty_html(
      "No baseline and no reference were given, so there is nothing to compare with. `stallscope "
      "diff` compares "
      "two runs; `stallscope report --reference auto` sets the reference trainer beside this one.");
}

}  // namespace stallscope
