#include "report/json_parts.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/lanes.h"

namespace stallscope {
namespace {

Json place_json(const Place& place) {
  return {{"file", text_or_null(place.file)},
          {"line", unknown_if_zero(place.line)},
          {"column", unknown_if_zero(place.column)},
          {"function", text_or_null(place.function)},
          {"language", text_or_null(place.language)}};
}

Json places_json(const std::vector<Place>& places) {
  Json out = Json::array();
  for (const Place& place : places) out.push_back(place_json(place));
  return out;
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json evidence_json(const std::vector<Evidence>& evidence) {
  Json out = Json::array();
  for (const Evidence& item : evidence)
    out.push_back({{"name", item.name},
                   {"value", number_or_null(item.value)},
                   {"unit", text_or_null(item.unit)},
                   {"threshold", item.threshold ? number_or_null(*item.threshold) : Json()}});
  return out;
}

Json gain_json(const std::optional<Gain>& gain) {
  if (!gain) return {};
  Json step;
  if (gain->step_time)
    step = {{"low", gain->step_time->low},
            {"mid", gain->step_time->mid},
            {"high", gain->step_time->high}};
  return {{"stepTimeNs", step},
          {"oneTimeNs", gain->one_time ? Json(*gain->one_time) : Json()},
          {"fraction", gain->fraction ? number_or_null(*gain->fraction) : Json()},
          {"method", text_or_null(gain->method)},
          {"confidence", text_or_null(gain->confidence)}};
}

std::string_view outcome_name(RuleOutcome outcome) {
  switch (outcome) {
    case RuleOutcome::fired:
      return "fired";
    case RuleOutcome::passed:
      return "passed";
    case RuleOutcome::not_applicable:
      return "not-applicable";
    case RuleOutcome::could_not_run:
      return "could-not-run";
  }
  return "could-not-run";
}

/// Numbers texts in order of first use.
class Names {
 public:
  size_t id(const std::string& text) {
    const auto [at, added] = ids_.try_emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, size_t> ids_;
  std::vector<std::string> texts_;
};

}  // namespace

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json unknown_if_zero(uint64_t value) {
  return value == 0 ? Json() : Json(value);
}

Json number_of(const Observation& row, const char* field) {
  const auto found = row.numbers.find(field);
  return found == row.numbers.end() ? Json() : Json(found->second);
}

void add_line(Json& out, const Place& place) {
  out["file"] = text_or_null(place.file);
  out["line"] = unknown_if_zero(place.line);
}

void add_place(Json& out, const Place& place) {
  add_line(out, place);
  out["function"] = text_or_null(place.function);
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json breakdown_json(const ClassTimes& times) {
  Json out = Json::array();
  const Ns total = times.total();
  if (total <= 0) return out;
  for (size_t i = 0; i < kStepClasses; ++i)
    out.push_back({{"class", to_string(static_cast<StepClass>(i))},
                   {"durationNs", times.ns[i]},
                   {"fraction", static_cast<double>(times.ns[i]) / static_cast<double>(total)}});
  return out;
}

Json timeline_json(const Timeline& timeline, size_t max_slices) {
  const std::vector<size_t> rows = longest_slices(timeline.slices, max_slices);
  Names names, kinds;
  Json start = Json::array(), duration = start, track = start, name = start, kind = start,
       highlighted = start;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Slice& slice = timeline.slices[rows[i]];
    start.push_back(slice.start);
    duration.push_back(slice.duration);
    track.push_back(slice.track);
    name.push_back(names.id(slice.name));
    kind.push_back(kinds.id(slice.kind));
    if (slice.highlighted) highlighted.push_back(i);
  }
  Json class_start = Json::array(), class_name = class_start;
  for (const auto& [at, step_class] : timeline.classes) {
    class_start.push_back(at);
    class_name.push_back(to_string(step_class));
  }
  return {{"step", timeline.step},
          {"rank", timeline.rank < 0 ? Json() : Json(timeline.rank)},
          {"windowNs", timeline.duration},
          {"tracks", timeline.tracks},
          {"slicesLeftOut", timeline.slices.size() - rows.size()},
          {"slices",
           {{"startNs", start},
            {"durationNs", duration},
            {"track", track},
            {"name", name},
            {"kind", kind},
            {"names", names.texts()},
            {"kinds", kinds.texts()},
            {"highlighted", highlighted}}},
          {"classes", {{"startNs", class_start}, {"class", class_name}}}};
}

Json finding_json(const Finding& finding) {
  Json exemplars = Json::array();
  constexpr size_t kSlicesPerExemplar = 200;  // a mini-timeline is a few hundred pixels wide
  for (const Timeline& timeline : finding.exemplars)
    exemplars.push_back(timeline_json(timeline, kSlicesPerExemplar));
  Json snippet;
  if (!finding.snippet.lines.empty())
    snippet = {{"firstLine", finding.snippet.first_line}, {"lines", finding.snippet.lines}};
  return {{"ruleId", finding.rule_id},
          {"severity", to_string(finding.severity)},
          {"status", to_string(finding.status)},
          {"title", finding.title},
          {"message", text_or_null(finding.message)},
          {"locations", places_json(finding.locations)},
          {"evidence", evidence_json(finding.evidence)},
          {"gain", gain_json(finding.gain)},
          {"fix",
           {{"applicability", to_string(finding.fix.applicability)},
            {"before", text_or_null(finding.fix.before)},
            {"after", text_or_null(finding.fix.after)}}},
          {"fingerprint", finding.fingerprint},
          {"subject", text_or_null(finding.subject)},
          {"cause", text_or_null(finding.cause)},
          {"stack", places_json(finding.stack)},
          {"libraryLine", text_or_null(finding.library_line)},
          {"ranks", finding.ranks},
          {"related", finding.related},
          {"advice", finding.advice},
          {"confidence", text_or_null(finding.confidence)},
          {"contextChain", finding.context_chain},
          {"snippet", snippet},
          {"exemplars", exemplars}};
}

Json findings_json(std::span<const Finding> findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) out.push_back(finding_json(finding));
  return out;
}

Json rules_json(std::span<const RuleMeta> rules) {
  Json out = Json::object();
  for (const RuleMeta& rule : rules)
    out[rule.id] = {{"title", rule.title},
                    {"severity", to_string(rule.severity)},
                    {"why", text_or_null(rule.why)},
                    {"advice", rule.advice},
                    {"outcome", outcome_name(rule.outcome)},
                    {"reason", text_or_null(rule.reason)}};
  return out;
}

}  // namespace stallscope
