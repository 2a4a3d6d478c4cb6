// JUnit XML, as CI systems read it: each finding is a failed test, each rule
// that passed a passed one.
#include <fmt/format.h>

#include "report/findings_format.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

std::string finding_case(const Finding& finding) {
  const Place& place = primary_place(finding);
  std::string out =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(finding.rule_id),
                  escaped(place.known() ? place_text(place) : finding.subject));
  if (!place.file.empty()) out += fmt::format(" file=\"{}\"", escaped(place.file));
  if (place.line > 0) out += fmt::format(" line=\"{}\"", place.line);
  const std::string text = escape_markup(finding_paragraph(finding));
  // Advice must not fail a build.
  return out + (finding.advice
                    ? fmt::format("><skipped message=\"{}\"/></testcase>\n", escaped(finding.title))
                    : fmt::format("><failure type=\"{}\" message=\"{}\">{}</failure></testcase>\n",
                                  to_string(finding.severity), escaped(finding.title), text));
}

Result<std::string> render_junit(const FindingsList& list) {
  std::string cases;
  size_t tests = 0, failures = 0, skipped = 0;
  for (const Finding& finding : list.findings) {
    ++tests;
    ++(finding.advice ? skipped : failures);
    cases += finding_case(finding);
  }
  for (const RuleMeta& rule : list.rules) {
    if (rule.outcome == RuleOutcome::fired) continue;
    ++tests;
    cases += fmt::format("    <testcase classname=\"{0}\" name=\"{0}\"", escaped(rule.id));
    if (rule.outcome == RuleOutcome::passed) {
      cases += "/>\n";
    } else {
      ++skipped;
      cases += fmt::format("><skipped message=\"{}\"/></testcase>\n",
                           escaped(rule.reason.empty() ? "did not apply" : rule.reason));
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stallscope\" tests=\"{0}\" "
      "failures=\"{1}\">\n  <testsuite name=\"stallscope\" tests=\"{0}\" failures=\"{1}\" "
      "errors=\"0\" skipped=\"{2}\">\n{3}  </testsuite>\n</testsuites>\n",
      tests, failures, skipped, cases);
}

constexpr FindingsFormat kJunitFormat{"junit", "report.junit.xml", "JUnit XML, for test reports",
                                      render_junit};
const RegisterFindingsFormat kJunitFindings(kJunitFormat);
const RegisterFormat kJunitReport({kJunitFormat.name, kJunitFormat.file_name,
                                   kJunitFormat.description, render_findings_of<render_junit>});

}  // namespace
}  // namespace stallscope
