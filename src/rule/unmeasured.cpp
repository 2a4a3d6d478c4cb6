#include "rule/unmeasured.h"

#include <algorithm>

#include "analyze/places.h"

namespace stallscope {
namespace {

constexpr int kLoadedFirst = 10;  // more than there are severities

void say(Finding& finding, FindingStatus status, const std::string& sentence, Severity most) {
  finding.status = status;
  finding.message += " " + sentence;
  finding.severity = std::min(finding.severity, most);
}

std::string place_text(const Finding& finding) {
  if (finding.locations.empty() || finding.locations.front().line == 0) return {};
  return " at " + line_text(finding.locations.front());
}

// Of a line that ran. Only a recording that could have measured its stall says that it has none.
void say_ran(Finding& finding, const Rule& rule, const Sighting& sighting, const RunReach& reach,
             const std::string& recorded_part) {
  if (sighting.waited_below != nullptr)
    return say(finding, FindingStatus::measured,
               "The line ran, and what it calls blocked" + place_text(*sighting.waited_below) +
                   ": the finding there has the cost.",
               sighting.waited_below->severity);
  if (const std::string why = why_unmeasured(rule, reach); !why.empty())
    return say(finding, FindingStatus::not_seen,
               "The line ran; what it costs this recording cannot tell" +
                   // Why there is no verdict at all are sentences of their own.
                   (why.ends_with('.') ? ". " + why : ": " + why + "."),
               finding.severity);
  if (!sighting.in_trace && !recorded_part.empty())
    return say(finding, FindingStatus::not_seen,
               "The line ran, but perhaps not in the part of the run that was recorded (" +
                   recorded_part + ").",
               finding.severity);
  say(finding, FindingStatus::measured, "The line ran, and no stall was measured at it.",
      Severity::info);
}

}  // namespace

void set_status(Finding& finding, const Rule& rule, const SourceFact& fact,
                const Sighting& sighting, const RunReach& reach, const std::string& recorded_part) {
  finding.prominence = static_cast<int>(finding.severity) + (sighting.loaded ? kLoadedFirst : 0);
  if (sighting.in_trace) return say_ran(finding, rule, sighting, reach, recorded_part);
  switch (sighting.lines) {
    case LineVerdict::ran:
      return say_ran(finding, rule, sighting, reach, recorded_part);
    case LineVerdict::not_run:
      return say(finding, FindingStatus::not_executed, "The line was watched and did not run.",
                 Severity::info);
    case LineVerdict::compiled:
      return say(finding, FindingStatus::not_seen,
                 "The recording cannot tell whether the line ran: the run compiled functions, and "
                 "this one did not run as it is written.",
                 Severity::medium);
    case LineVerdict::silent:
      return say(finding, FindingStatus::not_seen,
                 "The line was watched and did not run, but not every Python process of the run "
                 "told which lines it ran.",
                 Severity::medium);
    case LineVerdict::changed:
      return say(finding, FindingStatus::not_seen,
                 "The file is not what the run loaded: it changed since, so that nothing is known "
                 "of this line.",
                 Severity::medium);
    case LineVerdict::not_loaded:
      return say(finding, FindingStatus::not_seen,
                 "No process that ended by itself had loaded this file.", Severity::low);
    case LineVerdict::unknown:
      // A Python program's folder often holds native programs that are not part of it.
      const bool foreign = fact.language != "python" && sighting.told_any;
      return say(finding, FindingStatus::not_seen,
                 "The recording cannot tell whether the line ran.",
                 foreign ? Severity::low : Severity::medium);
  }
}

}  // namespace stallscope
