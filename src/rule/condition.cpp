#include "rule/condition.h"

#include "rule/seen.h"

namespace stallscope {
namespace {

std::optional<double> share_of_step(double nanoseconds, Ns step_ns) {
  if (step_ns <= 0) return std::nullopt;
  return nanoseconds / static_cast<double>(step_ns);
}

// Of a trace without steps, what happened once or twice says nothing of how often it comes: a read
// at the end is none of each step.
bool says_how_often(const Observation& o) {
  constexpr double kRepeats = 3;
  return o.count.steps > 0 && (!is_of_whole_trace(o) || o.count.total >= kRepeats);
}

std::optional<double> common_number(const ObservationView& view, std::string_view field) {
  const Observation& o = *view.observation;
  if (field == "per_step") return o.count.per_step();
  if (field == "median_per_step") return o.count.median;
  if (field == "steps_affected") return o.count.steps_affected;
  if (field == "step_fraction" && says_how_often(o))
    return static_cast<double>(o.count.steps_affected) / o.count.steps;
  if (field == "blocked_ns") return o.blocked_ns.per_step();
  if (field == "idle_ns") return o.idle_ns.per_step();
  if (field == "blocked_fraction") return share_of_step(o.blocked_ns.per_step(), view.step_ns);
  if (field == "idle_fraction") return share_of_step(o.idle_ns.per_step(), view.step_ns);
  if (field == "transfer_fraction")
    if (const auto it = o.numbers.find("transfer_ns"); it != o.numbers.end())
      return share_of_step(it->second, view.step_ns);
  if (field == "one_time_ns") return static_cast<double>(o.one_time_ns);
  if (field == "rank") return o.rank;
  if (field == "device") return o.device;
  return std::nullopt;
}

std::optional<std::string> common_text(const Observation& o, std::string_view field) {
  if (field == "subject") return o.subject;
  if (field == "cause") return o.cause;
  if (field == "file") return o.place.file;
  if (field == "function") return o.place.function;
  if (field == "language") return o.place.language;
  return std::nullopt;
}

// All: false if one is false, else unknown if one is unknown. Any: the mirror image.
std::optional<bool> fold(const Condition& condition, const ObservationView& view, bool stop_at) {
  bool unknown = false;
  for (const Condition& child : condition.children) {
    const auto held = holds(child, view);
    if (!held)
      unknown = true;
    else if (*held == stop_at)
      return stop_at;
  }
  if (unknown) return std::nullopt;
  return !stop_at;
}

}  // namespace

FieldValue field_value(const ObservationView& view, std::string_view field) {
  const Observation& o = *view.observation;
  if (const auto number = common_number(view, field)) return {.number = number, .text = {}};
  if (auto text = common_text(o, field)) return {.number = {}, .text = std::move(text)};
  FieldValue value;
  const std::string key(field);
  if (const auto it = o.numbers.find(key); it != o.numbers.end()) value.number = it->second;
  if (const auto it = o.texts.find(key); it != o.texts.end()) value.text = it->second;
  // A text that is not there is empty (no operator, no copy); a number is unknown.
  if (!value.known()) value.text = "";
  return value;
}

std::optional<bool> holds(const Condition& condition, const ObservationView& view) {
  switch (condition.kind) {
    case Condition::Kind::all:
      return fold(condition, view, false);
    case Condition::Kind::any:
      return fold(condition, view, true);
    case Condition::Kind::none: {
      const auto any = fold(condition, view, true);
      if (!any) return std::nullopt;
      return !*any;
    }
    case Condition::Kind::field:
      return compare(condition.comparison, field_value(view, condition.field));
  }
  return std::nullopt;
}

Specificity specificity(const Condition& condition) {
  if (condition.kind == Condition::Kind::field) {
    const bool positive = condition.comparison.op != Comparison::Op::not_matches &&
                          condition.comparison.op != Comparison::Op::text_not;
    return {(condition.field == "operator" || condition.field == "operators") && positive, 1};
  }
  Specificity sum;
  for (const Condition& child : condition.children) {
    const Specificity part = specificity(child);
    sum.comparisons += part.comparisons;
    sum.names_operator |= part.names_operator && condition.kind == Condition::Kind::all;
  }
  return sum;
}

void collect_comparisons(const Condition& condition, std::vector<const Condition*>& out) {
  if (condition.kind == Condition::Kind::field) {
    if (condition.comparison.numeric()) out.push_back(&condition);
    return;
  }
  if (condition.kind == Condition::Kind::none) return;
  for (const Condition& child : condition.children) collect_comparisons(child, out);
}

}  // namespace stallscope
