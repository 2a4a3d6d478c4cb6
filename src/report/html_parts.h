// The sections of report.html as static HTML: readable with scripts off.
// Texts from a trace pass through escape_markup; nothing uses inline styles or
// scripts, because the page's content security policy forbids both.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace stallscope {

std::string headline_html(const Report& report);
std::string trust_html(const Report& report);
std::string breakdown_html(const Report& report);
std::string findings_html(const Report& report);
std::string rules_html(const Report& report);
std::string timeline_html(const Report& report);
std::string ranks_html(const Report& report);
std::string startup_html(const Report& report);
std::string steps_html(const Report& report);
std::string kernels_html(const Report& report);
/// The slowest rank's steps by named ranges; empty where its steps hold none.
std::string phases_html(const Report& report);
/// Why the slowest rank's device did not compute; empty when nothing is known.
std::string waits_html(const Report& report);
/// A rank's kernel time by operator and by line, and its queue depth; empty when nothing is known.
std::string kernel_shares_html(const RankSummary& rank);
/// Where the slowest rank's host time goes by Python's stacks; empty without samples.
std::string host_costs_html(const Report& report);
/// A rank's CUDA graphs by the lines that captured them; empty without any.
std::string graphs_html(const RankSummary& rank);
/// A rank's collectives by operation, group and size; empty when it ran none on a device.
std::string collective_sizes_html(const RankSummary& rank);
std::string comparison_html(const Report& report);
std::string reference_html(const ReferenceComparison& comparison);
std::string run_html(const Report& report);

/// A table that scrolls in its own box, whatever the page's width; `label` names it to readers.
std::string scroll(std::string_view label, const std::string& table);

/// One finding as an article; `position` is its place in the ranking, from 1.
std::string finding_html(const Report& report, const Finding& finding, size_t position, bool open);

/// A stacked bar that sums to the width, in the classes' colours, with a title per part.
std::string class_bar_svg(const ClassTimes& times, std::string_view label);
/// A mini-timeline with its axis.
std::string timeline_svg(const Timeline& timeline, std::string_view title);

/// "<td class=n title='1800000 ns'>1.8 ms</td>": right-aligned, exact on hover.
std::string duration_cell(Ns duration);
/// An empty state: why there is nothing to see.
std::string empty_html(std::string_view why);

}  // namespace stallscope
