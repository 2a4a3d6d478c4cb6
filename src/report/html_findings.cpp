// The ranked findings, and what became of every rule.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/html_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kOpenFindings = 3;   // shown unfolded; the others are one click away
constexpr size_t kMaxFindings = 200;  // in the page; report.json has all of them

const RuleMeta* rule_of(const Report& report, const Finding& finding) {
  const auto at = std::ranges::find(report.rules, finding.rule_id, &RuleMeta::id);
  return at == report.rules.end() ? nullptr : &*at;
}

std::string gain_html(const Finding& finding) {
  if (!finding.gain || (!finding.gain->step_time && !finding.gain->one_time))
    return fmt::format(
        "<p class=\"gain none\"><strong>{}</strong><span class=\"note\">{}</span></p>",
        finding.status == FindingStatus::measured ? "not priced" : "not measured",
        escaped(finding.status == FindingStatus::measured
                    ? gain_text(finding)
                    : std::string(status_text(finding.status))));
  const Gain& gain = *finding.gain;
  if (!gain.step_time)
    return fmt::format(
        "<p class=\"gain\"><strong title=\"{} ns\">{}</strong><span class=\"note\">once, before "
        "the "
        "first steady step</span></p>",
        *gain.one_time, escaped(duration_text(static_cast<double>(*gain.one_time))));
  return fmt::format(
      "<p class=\"gain\"><strong title=\"{} ns\">{}</strong><span class=\"note\">per "
      "step{}</span></p>",
      gain.step_time->mid, escaped(duration_text(static_cast<double>(gain.step_time->mid))),
      gain.fraction ? ", " + percent_text(*gain.fraction) : "");
}

std::string gain_detail_html(const Finding& finding) {
  if (!finding.gain) return {};
  const Gain& gain = *finding.gain;
  std::string out = "<p class=\"fine\">Expected gain: ";
  out += gain.step_time
             ? fmt::format("{} per step, most likely {}", escaped(gain_range_text(finding)),
                           escaped(duration_text(static_cast<double>(gain.step_time->mid))))
             : escaped(gain_text(finding));
  if (!gain.method.empty()) out += fmt::format("; method: {}", escaped(gain.method));
  if (!gain.confidence.empty()) out += fmt::format("; confidence: {}", escaped(gain.confidence));
  return out + ". Gains overlap, do not add.</p>";
}

std::string snippet_html(const Finding& finding) {
  const Snippet& snippet = finding.snippet;
  if (snippet.lines.empty()) return {};
  const uint32_t primary = primary_place(finding).line;
  std::string out = fmt::format(
      "<figure class=\"code\"><figcaption>{}{}</figcaption><pre tabindex=\"0\"><code>",
      escaped(place_text(primary_place(finding))),
      primary_place(finding).function.empty()
          ? ""
          : fmt::format(" <span>in {}</span>", escaped(primary_place(finding).function)));
  for (size_t i = 0; i < snippet.lines.size(); ++i) {
    const uint32_t line = snippet.first_line + static_cast<uint32_t>(i);
    const bool hit = line == primary;
    out +=
        fmt::format("<span class=\"line{}\"><span class=\"no\">{}{}</span> {}\n</span>",
                    hit ? " hit" : "", hit ? "\xE2\x96\xB8 " : "", line, escaped(snippet.lines[i]));
  }
  return out + "</code></pre></figure>";
}

std::string_view applicability_text(Applicability applicability) {
  switch (applicability) {
    case Applicability::safe:
      return "safe to apply";
    case Applicability::suggestion:
      return "a suggestion; check that the result stays the same";
    case Applicability::display:
      return "an example";
  }
  return "";
}

std::string fix_html(const Finding& finding) {
  const Fix& fix = finding.fix;
  if (fix.before.empty() && fix.after.empty()) return {};
  std::string out =
      fmt::format("<h4>Instead <span class=\"fine\">({})</span></h4><div class=\"fix\">",
                  applicability_text(fix.applicability));
  const auto side = [&](std::string_view label, std::string_view kind, const std::string& code) {
    if (!code.empty())
      out += fmt::format(
          "<figure class=\"code {}\"><figcaption>{}</figcaption><pre "
          "tabindex=\"0\"><code>{}</code></pre></figure>",
          kind, label, escape_markup(code));
  };
  side("Before", "before", fix.before);
  side("After", "after", fix.after);
  return out + "</div>";
}

/// "longest_ns" as "longest": the value beside it carries its unit.
std::string in_words(std::string name) {
  // What samples of a line tell, for who does not know the terms of profilers.
  constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"self_ns", "in it alone"},        {"inclusive_ns", "with what it calls"},
      {"python_ns", "in Python itself"}, {"native_ns", "in libraries"},
      {"waiting_ns", "asleep"},          {"delayed_ns", "ready, but no CPU was free"},
  };
  for (const auto& [term, plain] : kPlain)
    if (name == term) return std::string(plain);
  if (name.ends_with("_ns")) name.resize(name.size() - 3);
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string evidence_html(const Finding& finding) {
  if (finding.evidence.empty()) return {};
  std::string out =
      "<h4>Evidence</h4><table><thead><tr><th scope=\"col\">Measure</th><th scope=\"col\" "
      "class=\"n\">Value</th><th "
      "scope=\"col\" class=\"n\">Threshold</th></tr></thead><tbody>";
  for (const Evidence& item : finding.evidence)
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\" title=\"{} {}\">{}</td><td "
        "class=\"n\">{}</td></tr>",
        escaped(in_words(item.name)), item.value, escaped(item.unit),
        escaped(value_text(item.value, item.unit)),
        item.threshold ? escaped(value_text(*item.threshold, item.unit)) : "\xE2\x80\x94");
  return out + "</tbody></table>";
}

std::string stack_html(const Finding& finding) {
  if (finding.stack.empty() && finding.context_chain.empty()) return {};
  std::string out =
      "<details class=\"sub\"><summary>How this line is reached</summary><ol class=\"stack\">";
  for (const Place& place : finding.stack)
    out += fmt::format("<li><code>{}</code>{}</li>", escaped(place.function),
                       place.file.empty() ? "" : " " + escaped(place_text(place)));
  out += "</ol>";
  for (const std::string& link : finding.context_chain)
    out += fmt::format("<p class=\"fine\">{}</p>", escaped(link));
  return out + "</details>";
}

std::string ranks_text(const Finding& finding) {
  if (finding.ranks.empty()) return {};
  std::string out = finding.ranks.size() == 1 ? " on rank " : " on ranks ";
  constexpr size_t kShown = 6;
  for (size_t i = 0; i < finding.ranks.size() && i < kShown; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", finding.ranks[i]);
  if (finding.ranks.size() > kShown)
    out += fmt::format(" and {} more", finding.ranks.size() - kShown);
  return out;
}

std::string facts_html(const Finding& finding) {
  std::string out = fmt::format("<p class=\"fine\"><code>{}</code>, {}{}", escaped(finding.rule_id),
                                status_text(finding.status), ranks_text(finding));
  if (!finding.confidence.empty())
    out += fmt::format("; source match: {}", escaped(finding.confidence));
  if (!finding.related.empty()) {
    out += "; also matched by ";
    for (size_t i = 0; i < finding.related.size(); ++i)
      out += fmt::format("{}<code>{}</code>", i == 0 ? "" : ", ", escaped(finding.related[i]));
  }
  return out + ".</p>";
}

std::string cause_html(const Finding& finding) {
  if (finding.subject.empty() && finding.cause.empty()) return {};
  std::string out = "<p class=\"fine\">";
  if (!finding.subject.empty())
    out += fmt::format("In the trace: <code>{}</code>", escaped(finding.subject));
  if (!finding.cause.empty())
    out += fmt::format("{}waiting for <code>{}</code>", finding.subject.empty() ? "" : ", ",
                       escaped(finding.cause));
  return out + ".</p>";
}

std::string outcome_list(const Report& report, RuleOutcome outcome, std::string_view heading,
                         std::string_view none) {
  std::string items;
  size_t count = 0;
  for (const RuleMeta& rule : report.rules) {
    if (rule.outcome != outcome) continue;
    ++count;
    items += fmt::format("<li><code>{}</code> {}{}</li>", escaped(rule.id), escaped(rule.title),
                         rule.reason.empty() ? ""
                                             : fmt::format(" <span class=\"fine\">({})</span>",
                                                           escaped(rule.reason)));
  }
  return fmt::format(
      "<details class=\"rules\"><summary>{} <span class=\"count\">{}</span></summary>{}</details>",
      heading, count, items.empty() ? empty_html(none) : "<ul>" + items + "</ul>");
}

}  // namespace

std::string finding_html(const Report& report, const Finding& finding, size_t position, bool open) {
  const Place& place = primary_place(finding);
  // Without a line of the user's own code the operator or call tells findings of one rule apart.
  std::string where = place.known()             ? place_text(place)
                      : finding.subject.empty() ? "no line of your own code is on its stack"
                                                : finding.subject;
  if (!finding.library_line.empty()) where += ", through " + finding.library_line;
  std::string out = fmt::format(
      "<article class=\"finding sev-{0}\" id=\"finding={1}\"><details{2}><summary><span "
      "class=\"position\">{3}</span>"
      "<span class=\"head\"><h3>{4}</h3><span class=\"meta\"><span class=\"severity\">{0}</span> "
      "<span class=\"where\">{5}"
      "</span></span></span>{6}</summary><div class=\"body\">",
      to_string(finding.severity), escaped(finding.fingerprint), open ? " open" : "", position,
      escaped(finding.title), escaped(where), gain_html(finding));
  std::string text, figures;
  if (!finding.message.empty()) text += fmt::format("<p>{}</p>", escape_markup(finding.message));
  if (const RuleMeta* rule = rule_of(report, finding); rule != nullptr && !rule->why.empty())
    text += fmt::format("<p>{}</p>", escape_markup(rule->why));
  text += snippet_html(finding) + fix_html(finding) + stack_html(finding);
  if (!finding.exemplars.empty()) {
    const Timeline& worst = finding.exemplars.front();
    const std::string title =
        fmt::format("Worst instance: step {}{}", worst.step,
                    worst.rank >= 0 ? fmt::format(", rank {}", worst.rank) : "");
    if (const std::string svg = timeline_svg(worst, title); !svg.empty())
      figures += fmt::format(
          "<figure class=\"instance\"><figcaption>{0}</figcaption><div class=\"pan\" "
          "tabindex=\"0\" "
          "role=\"region\" aria-label=\"{0}, finding {2}\">{1}</div></figure>",
          escaped(title), svg, position);
  }
  figures += evidence_html(finding) + gain_detail_html(finding) + cause_html(finding) +
             facts_html(finding);
  if (finding.status == FindingStatus::measured)
    figures += fmt::format(
        "<h4>Check the fix</h4><pre class=\"command\" tabindex=\"0\"><code>{}</code></pre>",
        escaped(verify_command(report)));
  figures += fmt::format(
      "<p class=\"fine\"><a class=\"permalink\" href=\"#finding={}\">Link to this finding</a></p>",
      escaped(finding.fingerprint));
  return out +
         fmt::format(
             "<div class=\"text\">{}</div><div class=\"side\">{}</div></div></details></article>\n",
             text, figures);
}

std::string findings_html(const Report& report) {
  if (report.findings.empty())
    return empty_html(
        report.summary.ranks.empty()
            ? "No findings: there was nothing to look at."
            : "No findings: every rule that applied passed. What was checked is listed below.");
  std::string out =
      "<p>Ranked by what fixing each would save per step. Gains overlap, do not add: removing one "
      "stall often uncovers "
      "the next.</p>";
  for (size_t i = 0; i < report.findings.size() && i < kMaxFindings; ++i)
    out += finding_html(report, report.findings[i], i + 1, i < kOpenFindings);
  if (report.findings.size() > kMaxFindings)
    out +=
        fmt::format("<p class=\"fine\">{} more findings with smaller gains are in report.json.</p>",
                    report.findings.size() - kMaxFindings);
  return out;
}

std::string rules_html(const Report& report) {
  if (report.rules.empty()) return empty_html("No rules were run.");
  return outcome_list(report, RuleOutcome::passed, "Passed", "No rule passed.") +
         outcome_list(report, RuleOutcome::not_applicable, "Did not apply", "Every rule applied.") +
         outcome_list(report, RuleOutcome::could_not_run, "Could not run", "Every rule could run.");
}

}  // namespace stallscope
