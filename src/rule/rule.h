// Rule: what a file under rules/ says about one stall. Rules are data; what
// they can say about traces is Condition's grammar, about source
// SourceCondition's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rule/condition.h"
#include "rule/finding.h"

namespace stallscope {

struct SourceCondition;  // source/facts/condition.h

/// One way to see a rule's stall in a run: an observation of `kind` for which `where` holds.
struct TraceCondition {
  std::string kind;
  Condition where;
};

/// A variable of the run's environment and what its value must be for the rule to fire.
struct EnvironmentCondition {
  std::string name;
  Comparison value;
};

/// How the price of a finding is found: by replaying the step without the
/// stall, or, without replay, by the time that is charged to the observation.
enum class GainModel : uint8_t {
  none,
  remove_sync,
  remove_kernels,
  shrink_host,
  batch_calls,
  overlap_collective,
  coalesce_collectives,
  prefetch_input,
};
/// "remove-sync" and so on; "none".
std::string_view to_string(GainModel model);
std::optional<GainModel> gain_model_of(std::string_view text);

std::string_view to_string(Language language);
std::optional<Language> language_of(std::string_view text);

/// A file that shows the rule at work: source (.py, .cpp, .cu, .json, .yaml, .sh) or trace
/// (.jsonl).
struct RuleCase {
  std::string path;  ///< as it can be opened
  bool fires = true;
  bool is_trace() const { return path.ends_with(".jsonl"); }
};

/// A change to the matched call that a program may make by itself.
enum class EditKind : uint8_t {
  none,
  remove_argument,    ///< drop keyword `argument` where it is given as `value`
  add_argument,       ///< give keyword `argument` as `value`
  remove_statement,   ///< drop the statement that is only this call
  device_in_factory,  ///< zeros(n).to(device) becomes zeros(n, device=device)
};

struct CallEdit {
  EditKind kind = EditKind::none;
  std::string argument, value;
  std::string file_has;  ///< only in files with this text
  bool rebinds = false;  ///< only in `x = x.f(...)`: nobody else sees the old value
};

struct Rule {
  std::string id;
  std::string title;
  std::string why;
  Severity severity = Severity::info;        ///< the worst it may be
  Severity unmeasured = Severity::critical;  ///< and where no run measured it: code shows little
  std::vector<Language> languages;
  bool advice = false;             ///< shown, but never in an exit code
  bool once_per_function = false;  ///< of its matches in one function the first is shown
  bool fallback = false;           ///< speaks only where no other rule matched the observation
  bool startup = false;            ///< also fires on work before the first steady step
  std::string after_finding;       ///< what to say after the observed facts; may be empty
  std::string source_text;         ///< the `source:` block as written; empty = none
  std::shared_ptr<const SourceCondition> source;
  std::vector<TraceCondition> trace;              ///< any of them
  std::vector<EnvironmentCondition> environment;  ///< any of them
  GainModel gain = GainModel::none;
  double gain_share = 1;  ///< the part of what is charged that the fix can save
  std::string gain_of;    ///< the field with all that it can save; empty = what is charged
  Fix fix;
  CallEdit edit;
  std::vector<RuleCase> cases;
  std::vector<std::string> references;
  std::string file;    ///< where it was read from
  uint32_t layer = 0;  ///< which of the folders: a project's own rules speak before bundled ones
  bool drops_source = false;  ///< replaces a rule of an earlier folder that looked at source

  bool has_source() const { return !source_text.empty(); }
};

}  // namespace stallscope
