// Tables of ranks[] that are made of observations: graphs, host costs, hot functions and lines.
#include <nlohmann/json.hpp>

#include "report/json_parts.h"

namespace stallscope {
namespace {

Json text_of(const Observation& row, const char* field) {
  const auto found = row.texts.find(field);
  return found == row.texts.end() ? Json() : Json(found->second);
}

/// One item for each observation of a kind, filled by `fill(item, row)`.
template <typename Fill>
Json items_of(const RankSummary& rank, std::string_view kind, const Fill& fill) {
  Json out = Json::array();
  for (const Observation& row : rank.observations) {
    if (row.kind != kind) continue;
    Json item = Json::object();
    fill(item, row);
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace

Json graphs_json(const RankSummary& rank) {
  return items_of(rank, "graph-capture", [](Json& item, const Observation& row) {
    item["graph"] = row.subject;
    add_place(item, row.place);
    item["nodes"] = number_of(row, "nodes");
    item["replays"] = number_of(row, "replays");
    item["durationNs"] = number_of(row, "duration_ns");
    item["graphNs"] = number_of(row, "graph_ns");
    item["replayedAt"] = text_of(row, "replayed_at");
  });
}

Json host_costs_json(const RankSummary& rank) {
  return items_of(rank, "host-cost", [](Json& item, const Observation& row) {
    item["cost"] = row.subject;
    item["durationNs"] = number_of(row, "duration_ns");
    item["fraction"] = number_of(row, "fraction");
    item["samples"] = number_of(row, "samples");
    add_place(item, row.place);
  });
}

Json hot_json(const RankSummary& rank, std::string_view kind) {
  return items_of(rank, kind, [](Json& item, const Observation& row) {
    add_place(item, row.place);
    item["ownNs"] = number_of(row, "self_ns");
    item["inclusiveNs"] = number_of(row, "duration_ns");
    item["ownFraction"] = number_of(row, "self_fraction");
    item["inclusiveFraction"] = number_of(row, "fraction");
    item["native"] = text_of(row, "native");
    item["nativeFraction"] = number_of(row, "native_fraction");
  });
}

}  // namespace stallscope
