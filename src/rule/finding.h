// Finding: a rule that matched a place in the source, an observation in the
// trace, or both; what it costs, and what to do.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

enum class Severity : uint8_t { info, low, medium, high, critical };
/// How they are written, the worst first.
inline constexpr std::array<std::string_view, 5> kSeverityNames = {"critical", "high", "medium",
                                                                   "low", "info"};
enum class Language : uint8_t { python, cpp, cuda, config };

/// What is known about a finding from the run.
enum class FindingStatus : uint8_t {
  measured,      ///< seen in the trace
  static_only,   ///< no trace was given
  not_seen,      ///< the recording could not tell
  not_executed,  ///< the line never ran (only with line evidence)
};
enum class Applicability : uint8_t { safe, suggestion, display };

std::string_view to_string(Severity severity);
std::string_view to_string(FindingStatus status);
std::string_view to_string(Applicability applicability);
std::optional<Severity> severity_of(std::string_view text);

struct Evidence {
  std::string name;
  double value = 0;
  std::string unit;                 ///< "ns", "bytes", "per step", ""
  std::optional<double> threshold;  ///< what the rule compares it with
};

/// What fixing would save per step. Unknown is nullopt, never 0.
struct Gain {
  struct Range {
    Ns low = 0, mid = 0, high = 0;
  };
  std::optional<Range> step_time;
  std::optional<Ns> one_time;      ///< saved once, before the first steady step
  std::optional<double> fraction;  ///< step_time.mid over the step time
  std::string method;              ///< "device idle charged to it", "replay: remove-sync", ...
  std::string confidence;          ///< "high", "medium", "low"
  bool spread = false;             ///< not of one place: a share of whatever else the step does
};

struct Fix {
  Applicability applicability = Applicability::display;
  std::string before, after;
};

/// Lines around a finding's place, as they were when the run was recorded.
struct Snippet {
  uint32_t first_line = 0;
  std::vector<std::string> lines;
};

struct Finding {
  std::string rule_id;
  std::string title;
  Severity severity = Severity::info;
  FindingStatus status = FindingStatus::static_only;
  std::vector<Place> locations;  ///< primary first, then related
  std::vector<Evidence> evidence;
  std::vector<Place> stack;
  /// "transformers/trainer.py:1847 (Trainer.train)": the library's line through which the largest
  /// part comes, where the place is a call of the library; else empty.
  std::string library_line;
  std::string subject, cause;
  std::string message;               ///< one sentence for this instance
  std::vector<std::string> related;  ///< other rule ids that matched the same host block
  std::vector<int32_t> ranks;        ///< on which ranks it was measured
  std::optional<Gain> gain;
  Fix fix;
  Snippet snippet;
  std::vector<Timeline> exemplars;
  std::string confidence;                    ///< of a static match: "proven", "likely", "unknown"
  std::vector<std::string> context_chain;    ///< "called from train() line 212", ...
  std::vector<std::string> lowered_because;  ///< of a static match: "under a debug flag", ...
  bool advice = false;                       ///< never in an exit code
  /// Among static matches that the run did not decide: those in files it loaded come first, then
  /// what is worst in source. Their severity alone says less, being lowered for want of proof.
  int prominence = 0;
  std::string fingerprint;  ///< stable under moved lines; see fingerprint()
};

/// What happened to each rule.
enum class RuleOutcome : uint8_t { fired, passed, not_applicable, could_not_run };

struct RuleMeta {
  std::string id, title, why;
  Severity severity = Severity::info;
  bool advice = false;
  RuleOutcome outcome = RuleOutcome::passed;
  std::string reason;  ///< why it did not apply or could not run
};

/// "void ns::train<float>(int, char)" and "ns.train" are one function: the bare last name. Empty
/// for what has none of its own: "<lambda>", "<module>", comprehensions.
std::string bare_function(std::string_view function);

/// Hash of rule id, qualified function, normalised source line and its ordinal
/// among equal lines of the function (or of the subject when there is no source
/// line). Never a line number or a time.
std::string fingerprint(std::string_view rule_id, std::string_view function,
                        std::string_view source_line, unsigned ordinal, std::string_view subject);

}  // namespace stallscope
