#include "report/present.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/build.h"
#include "report/text_safety.h"
#include "rule/rank_findings.h"

namespace stallscope {
namespace {

struct ClassWords {
  std::string_view label;
  std::string_view of_device, of_thread;  // what it means in either view
  int colour;                             // of the xterm 256-colour palette
};

// Colours are the Okabe-Ito set (Okabe and Ito 2008) plus two greys; reports/style.css has the
// same.
constexpr std::array<ClassWords, kStepClasses> kWords = {{
    {"Compute", "The device runs at least one kernel that computes.", "", 36},
    {"Exposed communication", "The device communicates and nothing else runs.",
     "The thread exchanges data with other ranks, or waits for them.", 175},
    {"Exposed copy", "The device copies or clears memory and nothing else runs.", "", 74},
    {"Waiting for a sync", "The device is idle because the host blocked on it.",
     "The thread is blocked in a wait.", 166},
    {"Launch-bound", "The device is idle because launching work takes longer than the work.", "",
     214},
    {"Host work", "The device is idle while the host does something else.",
     "The thread computes, or does other work of its own.", 227},
    {"Waiting for input", "The device is idle because the next batch is not there yet.",
     "The thread waits for the next batch.", 25},
    {"Profiler overhead", "The device is idle because of the recorder.",
     "The recorder holds the thread up.", 241},
    {"Other", "Idle for stream dependencies and other reasons.", "None of these.", 249},
}};

const ClassWords& words(StepClass step_class) {
  return kWords[static_cast<size_t>(step_class)];
}

/// "1.9 to 3.4 ms": one unit when both ends share it.
std::string range_text(Ns low, Ns high) {
  const std::string a = duration_text(static_cast<double>(low)),
                    b = duration_text(static_cast<double>(high));
  const size_t unit_a = a.find(' '), unit_b = b.find(' ');
  const bool same_unit = low == 0 || a.substr(unit_a) == b.substr(unit_b);
  return fmt::format("{} to {}", same_unit ? a.substr(0, unit_a) : a, b);
}

// What was seen of a finding that nothing could price.
std::string unpriced_text(const Finding& finding) {
  if (finding.status != FindingStatus::measured) return "not measured";
  // Of a process without a device what is exposed is the host's time.
  if (const double cost = seen_cost(finding); cost > 0)
    return duration_text(cost) + " seen, gain unknown";
  const auto host = std::ranges::find(finding.evidence, "host blocked", &Evidence::name);
  return host != finding.evidence.end()
             ? duration_text(host->value) + " of host time seen, gain unknown"
             : "not measured";
}

}  // namespace

const std::array<StepClass, kStepClasses>& step_classes() {
  static constexpr std::array<StepClass, kStepClasses> kAll = {
      StepClass::compute,    StepClass::exposed_communication, StepClass::exposed_copy,
      StepClass::host_sync,  StepClass::launch_bound,          StepClass::host_work,
      StepClass::input_wait, StepClass::profiler_overhead,     StepClass::other};
  return kAll;
}

std::string_view class_label(StepClass step_class) {
  return words(step_class).label;
}
std::string_view class_meaning(StepClass step_class, RankView view) {
  return view == RankView::device ? words(step_class).of_device : words(step_class).of_thread;
}
int terminal_colour(StepClass step_class) {
  return words(step_class).colour;
}

const Place& primary_place(const Finding& finding) {
  static const Place kNowhere;
  return finding.locations.empty() ? kNowhere : finding.locations.front();
}

std::string place_text(const Place& place) {
  if (place.file.empty()) return place.function;
  return place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line);
}

std::string duration_text(double nanoseconds) {
  std::string text = format_duration(nanoseconds);
  if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "\xC2\xB5");
  return text;
}

std::string percent_text(double fraction) {
  const double percent = fraction * 100;
  return fmt::format("{:.{}f} %", percent, std::fabs(percent) < 9.95 && percent != 0 ? 1 : 0);
}

std::string mean_text(const StepTime& time) {
  constexpr double kFar = 1.2;
  const double median = static_cast<double>(time.median), mean = static_cast<double>(time.mean);
  if (mean <= kFar * median && median <= kFar * mean) return {};
  return "; on average " + duration_text(mean);
}

std::string gain_text(const Finding& finding) {
  if (!finding.gain) return unpriced_text(finding);
  const Gain& gain = *finding.gain;
  if (gain.step_time) {
    std::string text = fmt::format("saves about {} per step",
                                   duration_text(static_cast<double>(gain.step_time->mid)));
    if (gain.fraction) text += fmt::format(" ({})", percent_text(*gain.fraction));
    return text;
  }
  if (gain.one_time)
    return fmt::format("saves about {} once", duration_text(static_cast<double>(*gain.one_time)));
  return "not measured";
}

std::string gain_range_text(const Finding& finding) {
  if (!finding.gain || !finding.gain->step_time) return {};
  return range_text(finding.gain->step_time->low, finding.gain->step_time->high);
}

std::string value_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "ns") return duration_text(value);
  if (unit == "bytes") return format_bytes(value);
  if (unit == "fraction") return percent_text(value);
  const std::string number = value == std::floor(value) && std::fabs(value) < 1e15
                                 ? fmt::format("{:.0f}", value)
                                 : fmt::format("{:.3g}", value);
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string rank_label(const RankSummary& rank) {
  std::string text =
      rank.rank >= 0 ? fmt::format("rank {}", rank.rank) : fmt::format("process {}", rank.pid);
  if (rank.device >= 0) text += fmt::format(", device {}", rank.device);
  return text;
}

std::string rank_short_label(const RankSummary& rank) {
  return rank.rank >= 0 ? fmt::format("{}", rank.rank) : fmt::format("pid {}", rank.pid);
}

std::string command_text(const RunInfo& run) {
  std::string text;
  for (const std::string& word : run.command) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string verify_command(const Report& report) {
  if (report.run.command.empty())
    return "stallscope report AFTER-TRACE -o after && stallscope diff BEFORE after";
  return fmt::format("stallscope run -o after -- {} && stallscope diff BEFORE after",
                     command_text(report.run));
}

std::string_view step_use_name(StepUse use) {
  switch (use) {
    case StepUse::used:
      return "used";
    case StepUse::first:
      return "first";
    case StepUse::last:
      return "last";
    case StepUse::warm_up:
      return "warm-up";
    case StepUse::launched_before_capture:
      return "launched-before-capture";
    case StepUse::hole:
      return "hole";
    case StepUse::no_work:
      return "no-device-work";
    case StepUse::overlapping:
      return "overlapping";
  }
  return "";
}

std::string_view status_text(FindingStatus status) {
  switch (status) {
    case FindingStatus::measured:
      return "measured in this run";
    case FindingStatus::static_only:
      return "from the source alone, not measured";
    case FindingStatus::not_seen:
      return "not seen; the recording cannot tell";
    case FindingStatus::not_executed:
      return "this line did not run";
  }
  return "";
}

std::string verdict_text(const Report& report) {
  const RankSummary* slowest = slowest_rank(report.summary);
  if (slowest == nullptr || !report.step_time) return "No verdict: the data cannot carry one.";
  const ClassTimes& classes = slowest->mean_breakdown;
  const double total = static_cast<double>(classes.total());
  if (total <= 0) return "The step time is known, where it goes is not.";
  const bool device = slowest->view == RankView::device;
  const StepClass work = device ? StepClass::compute : StepClass::host_work;
  StepClass largest = StepClass::exposed_communication;
  for (const StepClass c : step_classes())
    if (c != work && classes[c] > classes[largest]) largest = c;
  const auto share = [&](StepClass c) {
    return percent_text(static_cast<double>(classes[c]) / total);
  };
  std::string text =
      fmt::format("{} of a step is {}", share(work),
                  device ? "compute" : "the program\xE2\x80\x99s own work on the CPU");
  if (classes[largest] > 0)
    text += fmt::format("; the largest stall is \xE2\x80\x9C{}\xE2\x80\x9D with {}",
                        class_label(largest), share(largest));
  return text + ".";
}

}  // namespace stallscope
