// Words that every format for people uses alike: the same finding reads the
// same in the page, the terminal and a pull request.
#pragma once

#include <array>
#include <string>

#include "report/report.h"

namespace stallscope {

/// All classes in the order in which bars and tables show them.
const std::array<StepClass, kStepClasses>& step_classes();

std::string_view class_label(StepClass step_class);  ///< "Exposed communication"
/// One sentence; empty for what a process without device work (RankView::host) cannot have.
std::string_view class_meaning(StepClass step_class, RankView view);

/// Index 0-255 of a terminal colour close to the class's colour in the page.
int terminal_colour(StepClass step_class);

/// "trainer/loop.py:212", the function when the file is unknown, "" when nothing is known.
std::string place_text(const Place& place);
/// The primary place of a finding; a nowhere without one.
const Place& primary_place(const Finding& finding);

/// "12.8 ms" with a non-ASCII micro sign for people.
std::string duration_text(double nanoseconds);
std::string percent_text(double fraction);  ///< "21 %", "0.4 %": two significant digits

/// "; on average 95 ms" where the mean step is far from the median; else empty.
std::string mean_text(const StepTime& time);

/// "saves about 2.73 ms per step (21 %)", "saves about 34 s once", "not measured".
std::string gain_text(const Finding& finding);
/// "1.9 to 3.4 ms"; empty without a range.
std::string gain_range_text(const Finding& finding);

/// A value with its unit in the size a person would say; exact ones stay exact.
std::string value_text(double value, std::string_view unit);

/// "rank 3, device 1" or "process 4711".
std::string rank_label(const RankSummary& rank);
std::string rank_short_label(const RankSummary& rank);  ///< "3" or "pid 4711"

/// The recorded command as one would type it; empty for imported traces.
std::string command_text(const RunInfo& run);
/// How to find out whether a fix helped.
std::string verify_command(const Report& report);

/// "used", or why a step takes no part in statistics: "warm-up", "launched-before-capture", ...
std::string_view step_use_name(StepUse use);

/// What is known about the finding from the run, as a phrase.
std::string_view status_text(FindingStatus status);

/// One sentence that sums the report up, or says why it gives no verdict.
std::string verdict_text(const Report& report);

}  // namespace stallscope
