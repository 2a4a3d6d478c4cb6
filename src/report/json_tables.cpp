// Tables of ranks[] that are made of observations: graphs, host costs, hot functions and lines.
#include <nlohmann/json.hpp>

#include "report/json_parts.h"

namespace stallscope {
namespace {

Json number_of(const Observation& row, const char* field) {
  const auto found = row.numbers.find(field);
  return found == row.numbers.end() ? Json() : Json(found->second);
}

Json text_of(const Observation& row, const char* field) {
  const auto found = row.texts.find(field);
  return found == row.texts.end() ? Json() : Json(found->second);
}

void add_place(Json& out, const Place& place) {
  out["file"] = text_or_null(place.file);
  out["line"] = place.line == 0 ? Json() : Json(place.line);
  out["function"] = text_or_null(place.function);
}

}  // namespace

Json graphs_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const Observation& row : rank.observations) {
    if (row.kind != "graph-capture") continue;
    Json item = {{"graph", row.subject}};
    add_place(item, row.place);
    item["nodes"] = number_of(row, "nodes");
    item["replays"] = number_of(row, "replays");
    item["durationNs"] = number_of(row, "duration_ns");
    item["graphNs"] = number_of(row, "graph_ns");
    item["replayedAt"] = text_of(row, "replayed_at");
    out.push_back(std::move(item));
  }
  return out;
}

Json host_costs_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const Observation& row : rank.observations) {
    if (row.kind != "host-cost") continue;
    Json item = {{"cost", row.subject},
                 {"durationNs", number_of(row, "duration_ns")},
                 {"fraction", number_of(row, "fraction")},
                 {"samples", number_of(row, "samples")}};
    add_place(item, row.place);
    out.push_back(std::move(item));
  }
  return out;
}

Json hot_json(const RankSummary& rank, std::string_view kind) {
  Json out = Json::array();
  for (const Observation& row : rank.observations) {
    if (row.kind != kind) continue;
    Json item = Json::object();
    add_place(item, row.place);
    item["ownNs"] = number_of(row, "self_ns");
    item["inclusiveNs"] = number_of(row, "duration_ns");
    item["ownFraction"] = number_of(row, "self_fraction");
    item["inclusiveFraction"] = number_of(row, "fraction");
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace stallscope
