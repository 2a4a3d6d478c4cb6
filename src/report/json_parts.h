// Pieces of report.json that several formats share.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "report/report.h"

namespace stallscope {

/// Keys keep the order in which they are written: the same report gives the same bytes.
using Json = nlohmann::ordered_json;

/// How much of what grows with the run goes in. The limits are generous for a
/// file, tight for a page; what was left out is counted beside what was kept.
struct JsonLimits {
  size_t slices_per_timeline = 4000;  ///< the longest ones are kept
  size_t slices_in_all = 40'000;      ///< over all ranks' timelines
  size_t steps_in_all = 200'000;      ///< over all ranks' step series, slowest ranks first
  size_t kernel_ranks = 32;           ///< ranks that carry a kernel table, slowest first
};

/// The whole document. Numbers that are unknown are null.
Json report_json(const Report& report, const JsonLimits& limits = {});

/// One element of findings[]: the shape that `lint` prints too.
Json finding_json(const Finding& finding);
Json findings_json(std::span<const Finding> findings);
/// rules{id -> meta}.
Json rules_json(std::span<const RuleMeta> rules);
Json breakdown_json(const ClassTimes& times);
/// Event data as columns; at most `max_slices` of them, the longest and every highlighted one.
Json timeline_json(const Timeline& timeline, size_t max_slices);
Json rank_json(const RankSummary& rank);
Json trust_json(const Report& report);
/// Lines that captured CUDA graphs.
Json graphs_json(const RankSummary& rank);
/// The step thread's time in known costs.
Json host_costs_json(const RankSummary& rank);
/// Rows of "hot-function" or "hot-line".
Json hot_json(const RankSummary& rank, std::string_view kind);

/// Text for JSON: invalid UTF-8 becomes U+FFFD, as the serialiser would otherwise throw.
std::string dump(const Json& json, int indent);

/// Null for an empty text.
Json text_or_null(const std::string& text);
/// Null for 0: counts, sizes and lines that are not known.
Json unknown_if_zero(uint64_t value);
/// Null where the observation does not carry the number.
Json number_of(const Observation& row, const char* field);
/// Adds "file" and "line".
void add_line(Json& out, const Place& place);
/// Adds "file", "line" and "function".
void add_place(Json& out, const Place& place);
Json reference_json(const ReferenceComparison& comparison);

}  // namespace stallscope
