#include "rule/evaluate.h"
#include "rule/gain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rule/load.h"

using namespace stallscope;

namespace {

// Rules of the shapes that precedence is about.
const std::vector<std::pair<std::string, std::string>> kRules = {
    {"item-in-step",
     "severity: critical\nlanguages: [python]\nwhy: w\ntitle: t\n"
     "trace: {observe: host-sync, where: {copy: device-to-host, bytes: '<= 16'}}\n"
     "gain: {model: remove-sync}\n"},
    {"nonzero",
     "severity: medium\nlanguages: [python]\nwhy: w\ntitle: t\n"
     "trace: {observe: host-sync, where: {operators: '/aten::nonzero/'}}\n"
     "gain: {model: remove-sync}\n"},
    {"host-sync",
     "severity: medium\nlanguages: [python]\nwhy: w\ntitle: t\nfallback: true\n"
     "trace: {observe: host-sync, where: {idle_fraction: '>= 1 %'}}\ngain: {model: remove-sync}\n"},
    {"mask-recreated",
     "severity: medium\nlanguages: [python]\nwhy: w\ntitle: t\n"
     "trace: {observe: repeated-kernels, where: {constant: contains triu}}\n"
     "gain: {model: remove-kernels}\n"},
    {"late-rank",
     "severity: high\nlanguages: [python]\nwhy: w\ntitle: t\n"
     "trace: {observe: collective-wait, where: {late_share: '>= 0.5'}}\n"
     "gain: {model: overlap-collective}\n"},
    {"slow-start",
     "severity: high\nlanguages: [python]\nwhy: w\ntitle: t\nstartup: true\n"
     "trace: {observe: python-hot-function, where: {one_time_ns: '>= 1 s'}}\n"
     "gain: {model: shrink-host}\n"},
    {"debug",
     "severity: critical\nlanguages: [python]\nwhy: w\ntitle: t\n"
     "environment: {CUDA_LAUNCH_BLOCKING: '>= 1'}\n"},
    {"read-in-source",
     "severity: high\nlanguages: [python]\nwhy: w\ntitle: t\nsource: {call: [tolist]}\n"
     "gain: {model: remove-sync}\n"},
};

std::vector<Rule> rules() {
  std::vector<Rule> result;
  for (const auto& [id, text] : kRules) {
    auto rule = parse_rule("id: " + id + "\n" + text, id + ".yaml");
    REQUIRE_MESSAGE(rule.ok(), (rule ? "" : rule.error().to_string()));
    result.push_back(*rule);
  }
  return result;
}

Distribution per_step(double value, uint32_t steps = 10) {
  return {.median = value,
          .maximum = value,
          .total = value * steps,
          .steps_affected = steps,
          .steps = steps};
}

Observation sync(const char* file, uint32_t line, double bytes, Ns idle, Ns blocked) {
  Observation o;
  o.kind = "host-sync";
  o.place = {.file = file, .line = line, .column = 0, .function = "train", .language = "python"};
  o.stack = {
      o.place,
      {.file = "/job/main.py", .line = 3, .column = 0, .function = "main", .language = "python"}};
  o.rank = 0;
  o.subject = "cudaStreamSynchronize";
  o.cause = "gemm";
  o.count = per_step(1);
  o.idle_ns = per_step(static_cast<double>(idle));
  o.blocked_ns = per_step(static_cast<double>(blocked));
  o.numbers["bytes"] = bytes;
  o.texts["copy"] = "device-to-host";
  return o;
}

// A step of 1 ms: 600 us compute, 100 us exposed communication, 300 us idle.
RankSummary rank(std::vector<Observation> observations, int32_t number = 0) {
  RankSummary r;
  r.rank = number;
  r.pid = 100 + number;
  r.device = 0;
  r.step_median = 1'000'000;
  r.mean_breakdown[StepClass::compute] = 600'000;
  r.mean_breakdown[StepClass::exposed_communication] = 100'000;
  r.mean_breakdown[StepClass::host_sync] = 250'000;
  r.mean_breakdown[StepClass::other] = 50'000;
  r.observations = std::move(observations);
  return r;
}

RunSummary run_of(std::vector<RankSummary> ranks) {
  RunSummary run;
  run.ranks = std::move(ranks);
  return run;
}

SourceFact fact(const char* rule, const char* file, uint32_t first, uint32_t last) {
  SourceFact f;
  f.rule_id = rule;
  f.file = file;
  f.first_line = first;
  f.last_line = last;
  f.function = "train";
  f.language = "python";
  f.context = "step";
  f.certainty = Certainty::likely;
  f.line_text = "x = y.tolist()";
  return f;
}

const Finding* find(const RuleResults& results, const std::string& id) {
  const auto it = std::ranges::find(results.findings, id, &Finding::rule_id);
  return it == results.findings.end() ? nullptr : &*it;
}

const RuleMeta& meta(const RuleResults& results, const std::string& id) {
  const auto it = std::ranges::find(results.rules, id, &RuleMeta::id);
  REQUIRE(it != results.rules.end());
  return *it;
}

}  // namespace

TEST_CASE("one host block is one finding, by the narrowest rule that knows it") {
  struct Case {
    std::string what;
    double bytes;
    const char* operators;
    Ns idle;
    std::vector<SourceFact> facts;
    std::string winner;
    std::vector<std::string> related;
  };
  for (const Case& c :
       std::vector<Case>{{"a small read", 4, "", 50'000, {}, "item-in-step", {}},
                         {"the operator names the rule",
                          8,
                          "aten::nonzero",
                          50'000,
                          {},
                          "nonzero",
                          {"item-in-step"}},
                         {"nothing but a block", 4096, "", 50'000, {}, "host-sync", {}},
                         {"a block that costs nothing", 4096, "", 100, {}, "", {}},
                         {"source wins over the operator",
                          8,
                          "aten::nonzero",
                          50'000,
                          {fact("read-in-source", "job/train.py", 14, 14)},
                          "read-in-source",
                          {"item-in-step", "nonzero"}},
                         {"source wins by span",
                          4096,
                          "",
                          50'000,
                          {fact("read-in-source", "job/train.py", 12, 15)},
                          "read-in-source",
                          {}},
                         {"source elsewhere does not",
                          4,
                          "",
                          50'000,
                          {fact("read-in-source", "job/train.py", 15, 15)},
                          "item-in-step",
                          {}},
                         {"a caller's line speaks only for what its rule matches",
                          4,
                          "",
                          50'000,
                          {fact("read-in-source", "main.py", 3, 3)},
                          "item-in-step",
                          {}}}) {
    CAPTURE(c.what);
    Observation o = sync("/job/train.py", 14, c.bytes, c.idle, 80'000);
    o.texts["operators"] = c.operators;
    const RunSummary run = run_of({rank({o})});
    const RuleResults results = evaluate(rules(), &run, c.facts);
    size_t on_line = 0;
    for (const Finding& f : results.findings)
      if (!f.locations.empty() && f.locations[0].file.ends_with("train.py") && f.gain.has_value())
        ++on_line;
    CHECK(on_line == (c.winner.empty() ? 0 : 1));
    if (c.winner.empty()) continue;
    const Finding* finding = find(results, c.winner);
    REQUIRE(finding != nullptr);
    CHECK(finding->status == FindingStatus::measured);
    CHECK(finding->related == c.related);
  }
}

TEST_CASE("a gain is what is charged, never more than the step has") {
  struct Case {
    std::string what;
    Ns idle, blocked;
    double saved, error;  // of replay; error < 0: not replayed
    Ns low, mid, high;
    const char* method;
  };
  for (const Case& c : {
           Case{"charged", 50'000, 80'000, 0, -1, 0, 50'000, 130'000,
                "device idle time charged to it"},
           {"capped by the step's idle time", 200'000, 500'000, 0, -1, 0, 200'000, 300'000,
            "device idle time charged to it"},
           {"idle beyond the step's is capped", 900'000, 0, 0, -1, 0, 300'000, 300'000,
            "device idle time charged to it"},
           {"replayed", 50'000, 80'000, 40'000, 0.01, 30'000, 40'000, 50'000,
            "replay: remove-sync"},
           {"a replay that is far off is not used", 50'000, 80'000, 40'000, 0.5, 0, 50'000, 130'000,
            "device idle time charged to it"},
       }) {
    CAPTURE(c.what);
    Observation o = sync("train.py", 14, 4, c.idle, c.blocked);
    if (c.error >= 0) o.numbers["replay_saved_ns"] = c.saved;
    RankSummary r = rank({o});
    r.replay_error = c.error;
    const RunSummary run = run_of({r});
    const RuleResults results = evaluate(rules(), &run, {});
    const Finding* finding = find(results, "item-in-step");
    REQUIRE(finding != nullptr);
    REQUIRE(finding->gain->step_time.has_value());
    CHECK(finding->gain->step_time->low == c.low);
    CHECK(finding->gain->step_time->mid == c.mid);
    CHECK(finding->gain->step_time->high == c.high);
    CHECK(finding->gain->method == c.method);
    CHECK(*finding->gain->fraction == doctest::Approx(static_cast<double>(c.mid) / 1e6));
  }
}

TEST_CASE("how much of a collective can be hidden is not known, replayed or not") {
  for (const double error : {-1.0, 0.01}) {
    CAPTURE(error);
    Observation o;
    o.kind = "collective";
    o.numbers["exposed_ns"] = 80'000;
    if (error >= 0) o.numbers["replay_saved_ns"] = 80'000;
    RankSummary r = rank({});
    r.replay_error = error;
    Rule rule;
    rule.gain = GainModel::overlap_collective;
    const auto price = price_of(rule, {.observation = &o, .rank = &r});
    REQUIRE(price);
    CHECK(price->range.low == 0);
    CHECK(price->range.mid == 40'000);
    CHECK(price->range.high == 80'000);
    CHECK(gain_method(GainModel::overlap_collective, *price).ends_with("(high: all of it)"));
  }
}

TEST_CASE("the trace decides the severity, up to the rule's") {
  struct Case {
    Ns idle;
    Severity severity;
  };
  for (const Case& c : {Case{200'000, Severity::critical},
                        {50'000, Severity::high},
                        {15'000, Severity::medium},
                        {2'000, Severity::low},
                        {0, Severity::info}}) {
    CAPTURE(c.idle);
    const RunSummary run = run_of({rank({sync("train.py", 14, 4, c.idle, 1000)})});
    CHECK(find(evaluate(rules(), &run, {}), "item-in-step")->severity == c.severity);
  }
  const RunSummary run = run_of({rank({sync("train.py", 14, 4, 200'000, 1000)})});
  EvaluateOptions options;
  options.severities["item-in-step"] = Severity::low;
  CHECK(find(evaluate(rules(), &run, {}, options), "item-in-step")->severity == Severity::low);
}

TEST_CASE("ranks with the same stall make one finding, priced by the worst") {
  const RunSummary run =
      run_of({rank({sync("train.py", 14, 4, 20'000, 0)}, 0),
              rank({sync("train.py", 14, 4, 60'000, 0), sync("train.py", 20, 4, 10'000, 0)}, 1)});
  const RuleResults results = evaluate(rules(), &run, {});
  REQUIRE(results.findings.size() == 2);
  CHECK(results.findings[0].locations[0].line == 14);
  CHECK(results.findings[0].ranks == std::vector<int32_t>{0, 1});
  CHECK(results.findings[0].gain->step_time->mid == 60'000);
  CHECK(results.findings[1].ranks == std::vector<int32_t>{1});
}

TEST_CASE("two blocks of one line add up") {
  Observation a = sync("train.py", 14, 4, 20'000, 0), b = sync("train.py", 14, 4, 30'000, 0);
  b.texts["operators"] = "aten::item";
  const RunSummary run = run_of({rank({a, b})});
  const RuleResults results = evaluate(rules(), &run, {});
  REQUIRE(results.findings.size() == 1);
  CHECK(results.findings[0].gain->step_time->mid == 50'000);
  CHECK(results.findings[0].evidence[0].name == "occurrences");
  CHECK(results.findings[0].evidence[0].value == doctest::Approx(2));
  // The message describes the dearest of them, and says so.
  CHECK(results.findings[0].message.ends_with(
      " (3.0 % of it). All of its kind there: 2 times per step; the device idles 50 us (5.0 % of "
      "it)."));
}

TEST_CASE("evidence carries the thresholds it was compared with") {
  const RunSummary run = run_of({rank({sync("train.py", 14, 4, 20'000, 5'000)})});
  const RuleResults results = evaluate(rules(), &run, {});
  const Finding* finding = find(results, "item-in-step");
  REQUIRE(finding != nullptr);
  const auto bytes = std::ranges::find(finding->evidence, "bytes", &Evidence::name);
  REQUIRE(bytes != finding->evidence.end());
  CHECK(bytes->value == 4);
  CHECK(bytes->unit == "bytes");
  CHECK(bytes->threshold == 16.0);
  CHECK(finding->message ==
        "The host waits for the device in cudaStreamSynchronize, once per step, waiting for gemm; "
        "the host is blocked 5 us per step; the device idles 20 us per step (2.0 % of it).");
}

TEST_CASE("what is known of a source match from the run") {
  const SourceFact f = fact("read-in-source", "/src/train.py", 30, 31);
  const RunSummary run = run_of({rank({sync("/job/train.py", 14, 4, 20'000, 0)})});
  const auto status = [&](const RunSummary* summary, const EvaluateOptions& options) {
    const RuleResults results = evaluate(rules(), summary, std::span(&f, 1), options);
    const Finding* finding = find(results, "read-in-source");
    REQUIRE(finding != nullptr);
    CHECK_FALSE(finding->gain.has_value());
    return std::pair(finding->status, finding->severity);
  };
  CHECK(status(nullptr, {}) == std::pair(FindingStatus::static_only, Severity::high));
  CHECK(status(&run, {}) == std::pair(FindingStatus::not_seen, Severity::medium));
  EvaluateOptions options;
  options.line_evidence["/job/train.py"] = {.watched = {30, 40}, .hit = {40}};
  CHECK(status(&run, options) == std::pair(FindingStatus::not_executed, Severity::info));
  options.line_evidence["/job/train.py"] = {.watched = {30, 40}, .hit = {30}};
  CHECK(status(&run, options) == std::pair(FindingStatus::measured, Severity::info));
  options.line_evidence["/job/train.py"] = {.watched = {40}, .hit = {40}};
  CHECK(status(&run, options) == std::pair(FindingStatus::not_seen, Severity::medium));
}

TEST_CASE("a file that the run did not load weighs less, where it told what it loaded") {
  const std::vector<SourceFact> facts = {fact("read-in-source", "/src/train.py", 30, 31),
                                         fact("read-in-source", "/src/other.py", 30, 31)};
  const RunSummary run = run_of({rank({sync("/job/train.py", 14, 4, 20'000, 0)})});
  const auto severities = [&](const EvaluateOptions& options) {
    std::map<std::string, Severity> out;
    for (const Finding& finding : evaluate(rules(), &run, facts, options).findings)
      if (finding.rule_id == "read-in-source") {
        CHECK(finding.status == FindingStatus::not_seen);
        out[finding.locations.at(0).file] = finding.severity;
      }
    return std::pair(out["/src/train.py"], out["/src/other.py"]);
  };
  EvaluateOptions options;
  CHECK(severities(options) == std::pair(Severity::medium, Severity::medium));
  options.line_evidence["/elsewhere/unknown.py"] = {};  // the paths cannot be compared
  CHECK(severities(options) == std::pair(Severity::medium, Severity::medium));
  options.line_evidence["/job/train.py"] = {};
  CHECK(severities(options) == std::pair(Severity::medium, Severity::low));
}

TEST_CASE("a file that changed since the run is not joined by line") {
  SourceFact f = fact("read-in-source", "train.py", 14, 14);
  f.content_hash = "aaaa";
  const RunSummary run = run_of({rank({sync("/job/train.py", 14, 4, 20'000, 0)})});
  EvaluateOptions options;
  options.run_file_hashes["/job/train.py"] = "aaaa";
  CHECK(find(evaluate(rules(), &run, std::span(&f, 1), options), "item-in-step") == nullptr);
  options.run_file_hashes["/job/train.py"] = "bbbb";
  CHECK(find(evaluate(rules(), &run, std::span(&f, 1), options), "item-in-step") != nullptr);
}

TEST_CASE("what happened before the first steady step is priced once") {
  Observation o;
  o.kind = "python-hot-function";
  o.subject = "tree_at";
  o.one_time_ns = 34'000'000'000;
  const RunSummary run = run_of({rank({o})});
  const RuleResults results = evaluate(rules(), &run, {});
  const Finding* finding = find(results, "slow-start");
  REQUIRE(finding != nullptr);
  CHECK_FALSE(finding->gain->step_time.has_value());
  CHECK(finding->gain->one_time == 34'000'000'000);
  CHECK(finding->severity == Severity::high);
}

TEST_CASE("the environment of the run is looked at") {
  for (const auto& [value, fires] : {std::pair("1", true), {"0", false}, {"yes", false}}) {
    CAPTURE(value);
    RankSummary r = rank({});
    r.environment["env.CUDA_LAUNCH_BLOCKING"] = value;
    const RunSummary run = run_of({r});
    CHECK((find(evaluate(rules(), &run, {}), "debug") != nullptr) == fires);
  }
}

TEST_CASE("each rule says what became of it") {
  const RunSummary run = run_of({rank({sync("train.py", 14, 4, 20'000, 0)})});
  EvaluateOptions options;
  options.ignore = {"nonzero"};
  options.source_was_analysed = false;
  const RuleResults results = evaluate(rules(), &run, {}, options);
  REQUIRE(results.rules.size() == kRules.size());
  struct Case {
    const char* id;
    RuleOutcome outcome;
    const char* reason;
  };
  for (const Case& c :
       {Case{"item-in-step", RuleOutcome::fired, ""},
        {"nonzero", RuleOutcome::not_applicable, "switched off"},
        {"host-sync", RuleOutcome::passed, ""},
        {"late-rank", RuleOutcome::not_applicable, "the run has no collectives"},
        {"slow-start", RuleOutcome::could_not_run, "no Python stack samples were recorded"},
        {"debug", RuleOutcome::passed, ""},
        {"read-in-source", RuleOutcome::could_not_run, "no source was analysed"}}) {
    CAPTURE(c.id);
    CHECK(meta(results, c.id).outcome == c.outcome);
    CHECK(meta(results, c.id).reason == c.reason);
  }
  RankSummary silent = rank({});
  silent.step_median = 0;
  silent.abstentions = {"no device work was recorded"};
  const RunSummary empty = run_of({silent});
  const RuleMeta abstained = meta(evaluate(rules(), &empty, {}), "item-in-step");
  CHECK(abstained.outcome == RuleOutcome::could_not_run);
  CHECK(abstained.reason == "no device work was recorded");
  CHECK(meta(evaluate(rules(), nullptr, {}), "item-in-step").outcome ==
        RuleOutcome::not_applicable);
}

TEST_CASE("results do not depend on the order of anything") {
  std::vector<Observation> observations = {
      sync("train.py", 14, 4, 20'000, 0), sync("train.py", 15, 4, 20'000, 0),
      sync("model.py", 3, 4096, 30'000, 0), sync("", 0, 4, 5'000, 0)};
  std::vector<Rule> ordered = rules();
  const auto shown = [&](const std::vector<Rule>& with) {
    const RunSummary run = run_of({rank(observations)});
    std::string text;
    for (const Finding& f : evaluate(with, &run, {}).findings)
      text +=
          f.rule_id +
          (f.locations.empty() ? "" : f.locations[0].file + std::to_string(f.locations[0].line)) +
          f.fingerprint + "\n";
    return text;
  };
  const std::string first = shown(ordered);
  std::ranges::reverse(observations);
  std::ranges::reverse(ordered);
  CHECK(shown(ordered) == first);
}
