// Whatever bytes are given as a rule file: a rule or an error that says what is wrong.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rule/load.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stallscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rule = parse_rule(text, "my-rule.yaml");
  if (!rule && rule.error().message.empty()) __builtin_trap();
  if (!rule) return 0;
  // What was accepted can be evaluated.
  Observation observation;
  observation.numbers["bytes"] = 4;
  observation.texts["operators"] = "aten::item < aten::is_nonzero";
  const ObservationView view{.observation = &observation, .step_ns = 1000};
  for (const TraceCondition& condition : rule->trace) (void)holds(condition.where, view);
  return 0;
}
