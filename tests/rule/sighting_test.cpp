// What is said of a source match: which observation speaks for it, or why none does.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rule/evaluate.h"
#include "rule/load.h"

using namespace stallscope;

namespace {

std::vector<Rule> few_rules() {
  std::vector<Rule> out;
  for (const auto& [id, text] : std::vector<std::pair<std::string, std::string>>{
           {"item",
            "severity: critical\nlanguages: [python]\nwhy: w\ntitle: t\nsource: {call: [item]}\n"
            "trace: {observe: host-sync, where: {bytes: '<= 16'}}\ngain: {model: remove-sync}\n"},
           {"print",
            "severity: high\nlanguages: [python]\nwhy: w\ntitle: t\nsource: {call: [print]}\n"
            "trace: {observe: host-sync, where: {bytes: '>= 1000'}}\n"
            "gain: {model: remove-sync}\n"},
           {"setting",
            "severity: high\nlanguages: [python]\nwhy: w\ntitle: t\nsource: {call: [set]}\n"}}) {
    auto rule = parse_rule("id: " + id + "\n" + text, id + ".yaml");
    REQUIRE_MESSAGE(rule.ok(), (rule ? "" : rule.error().to_string()));
    out.push_back(*rule);
  }
  return out;
}

Rule loader_rule() {
  auto rule = parse_rule(
      "id: loader\nseverity: high\nlanguages: [python]\nwhy: w\ntitle: t\nsource: {call: [L]}\n"
      "trace: {observe: input-wait}\ngain: {model: prefetch-input}\n",
      "loader.yaml");
  REQUIRE_MESSAGE(rule.ok(), (rule ? "" : rule.error().to_string()));
  return *rule;
}

Place frame(const char* file, uint32_t line, const char* function) {
  return {.file = file, .line = line, .column = 0, .function = function, .language = "python"};
}

// A read of four bytes per step, innermost frame first.
/// What a stack's lines are: those that ran, or the first of each function.
enum class Lines : uint8_t { run, first };

RunSummary run_with(std::vector<Place> stack, Lines lines = Lines::run) {
  Observation o;
  o.kind = "host-sync";
  o.place = stack.front();
  o.stack = std::move(stack);
  o.rank = 0;
  o.subject = "cudaStreamSynchronize";
  o.count = o.idle_ns = o.blocked_ns = {
      .median = 1, .maximum = 1, .total = 200'000, .steps_affected = 10, .steps = 10};
  o.numbers["bytes"] = 4;
  RunSummary run;
  RankSummary& rank = run.ranks.emplace_back();
  rank.rank = 0;
  for (uint32_t i = 0; i < 10; ++i) rank.steps.push_back({.index = i});
  rank.step_median = 1'000'000;
  rank.mean_breakdown[StepClass::compute] = 600'000;
  rank.mean_breakdown[StepClass::host_sync] = 400'000;
  rank.health.stacks_name_functions = lines == Lines::first;
  rank.observations.push_back(std::move(o));
  return run;
}

SourceFact match(const char* rule, const char* file, uint32_t line, const char* function) {
  SourceFact fact;
  fact.rule_id = rule;
  fact.file = file;
  fact.content_hash = "1";
  fact.first_line = fact.last_line = line;
  fact.function = function;
  fact.language = "python";
  fact.context = "step";
  fact.certainty = Certainty::likely;
  return fact;
}

// "item measured train.py:12", each with what its message says at the end, if that is asked for.
std::vector<std::string> shown(const RuleResults& results) {
  std::vector<std::string> out;
  for (const Finding& f : results.findings) {
    const Place& place = f.locations.front();
    out.push_back(f.rule_id + " " + std::string(to_string(f.status)) + " " + place.file + ":" +
                  std::to_string(place.line) + (f.gain ? " priced" : ""));
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

TEST_CASE("a line is met by its function too") {
  struct Case {
    std::string what;
    std::vector<Place> stack;
    Lines lines;
    std::vector<SourceFact> facts;
    std::vector<std::string> shown;
  };
  const SourceFact item = match("item", "a.py", 12, "Trainer.step");
  for (const Case& c :
       std::vector<Case>{{"its line",
                          {frame("/w/a.py", 12, "step")},
                          Lines::run,
                          {item},
                          {"item measured a.py:12 priced"}},
                         {"a comprehension has no name of its own",
                          {frame("/w/a.py", 12, "<listcomp>")},
                          Lines::run,
                          {item},
                          {"item measured a.py:12 priced"}},
                         {"what Dynamo made of its rest",
                          {frame("/w/a.py", 12, "torch_dynamo_resume_in_step_at_11")},
                          Lines::run,
                          {item},
                          {"item measured a.py:12 priced"}},
                         {"another function's line of that number",
                          {frame("/w/a.py", 12, "other")},
                          Lines::run,
                          {item},
                          {"item measured /w/a.py:12 priced", "item not-seen a.py:12"}},
                         {"the function's first line, of a profiler that knows no other",
                          {frame("/w/a.py", 7, "step")},
                          Lines::first,
                          {item},
                          {"item measured a.py:12 priced"}},
                         {"or its decorator's",
                          {frame("/w/a.py", 6, "step")},
                          Lines::first,
                          {item},
                          {"item measured a.py:12 priced"}},
                         {"or where the profiler was started",
                          {frame("/w/a.py", 15, "step")},
                          Lines::first,
                          {item},
                          {"item measured a.py:12 priced"}},
                         {"a lambda's line is its own",
                          {frame("/w/a.py", 9, "<lambda>")},
                          Lines::first,
                          {match("item", "a.py", 30, "<module>")},
                          {"item measured /w/a.py:9 priced", "item not-seen a.py:30"}},
                         {"of a recording that knows the lines",
                          {frame("/w/a.py", 7, "step")},
                          Lines::run,
                          {item},
                          {"item measured /w/a.py:7 priced", "item not-seen a.py:12"}},
                         {"several of a rule there are one finding",
                          {frame("/w/a.py", 7, "step")},
                          Lines::first,
                          {item, match("item", "a.py", 14, "Trainer.step")},
                          {"item measured /w/a.py:7 priced"}},
                         {"another rule's there is not it",
                          {frame("/w/a.py", 7, "step")},
                          Lines::first,
                          {match("print", "a.py", 12, "Trainer.step")},
                          {"item measured /w/a.py:7 priced", "print not-seen a.py:12"}},
                         {"a caller's function is not it",
                          {frame("/w/b.py", 3, "helper"), frame("/w/a.py", 7, "step")},
                          Lines::first,
                          {item},
                          {"item measured /w/b.py:3 priced", "item not-seen a.py:12"}}}) {
    CAPTURE(c.what);
    const RunSummary run = run_with(c.stack, c.lines);
    EvaluateOptions options;
    options.files["a.py"] = {"1", {{"<module>", 1, 30}, {"Trainer.step", 7, 15}}};
    options.files["b.py"] = {"2", {}};
    const RuleResults results = evaluate(few_rules(), &run, c.facts, options);
    CHECK(shown(results) == c.shown);
  }
}

TEST_CASE("of several lines that it may be, the finding names all") {
  const RunSummary run = run_with({frame("/w/a.py", 7, "step")}, Lines::first);
  EvaluateOptions options;
  options.files["a.py"] = {"1", {{"step", 7, 15}}};
  const std::vector<SourceFact> facts = {match("item", "a.py", 12, "step"),
                                         match("item", "a.py", 14, "step")};
  const RuleResults results = evaluate(few_rules(), &run, facts, options);
  REQUIRE(results.findings.size() == 1);
  CHECK(results.findings[0].message.ends_with(
      "The trace names the function, not the line: lines 12 and 14 may be it."));
  REQUIRE(results.findings[0].locations.size() == 3);
  CHECK(results.findings[0].locations[2].line == 14);
}

TEST_CASE("a wait for input names the lines that may make its loader") {
  struct Case {
    std::string what;
    std::vector<SourceFact> facts;
    LineEvidence lines;  ///< of a.py
    std::string said;    ///< at the end of the message
    std::vector<std::string> shown;
  };
  for (const Case& c : std::vector<Case>{
           {"the function's",
            {match("loader", "a.py", 12, "train"), match("loader", "a.py", 40, "test")},
            {},
            "Its loader may be made at line 12.",
            {"loader measured /w/a.py:20 priced", "loader not-seen a.py:40"}},
           {"the file's",
            {match("loader", "a.py", 40, "make"), match("loader", "b.py", 3, "make")},
            {},
            "Its loader may be made at line 40.",
            {"loader measured /w/a.py:20 priced", "loader not-seen b.py:3"}},
           {"not a line that did not run",
            {match("loader", "a.py", 12, "train"), match("loader", "a.py", 14, "train")},
            {.watched = {12, 14}, .hit = {14}, .compiled = {}},
            "Its loader may be made at line 14.",
            {"loader measured /w/a.py:20 priced", "loader not-executed a.py:12"}},
           {"another file's that nobody loaded",
            {match("loader", "b.py", 3, "make")},
            {},
            "of it).",
            {"loader measured /w/a.py:20 priced", "loader not-seen b.py:3"}}}) {
    CAPTURE(c.what);
    RunSummary run = run_with({frame("/w/a.py", 20, "train")});
    run.ranks[0].observations[0].kind = "input-wait";
    EvaluateOptions options;
    options.files["a.py"] = {"1", {{"train", 7, 25}, {"test", 30, 45}}};
    options.files["b.py"] = {"1", {{"make", 1, 5}}};
    if (!c.lines.watched.empty()) options.line_evidence["/w/a.py"] = c.lines;
    const RuleResults results = evaluate(std::vector<Rule>{loader_rule()}, &run, c.facts, options);
    CHECK(shown(results) == c.shown);
    const auto measured =
        std::ranges::find(results.findings, FindingStatus::measured, &Finding::status);
    REQUIRE(measured != results.findings.end());
    CHECK_MESSAGE(measured->message.ends_with(c.said), measured->message);
  }
}

TEST_CASE("what runs in a loader is told to be a part of the wait for it") {
  const Place loop = frame("/w/a.py", 20, "train"), body = frame("/w/a.py", 21, "train"),
              next = frame("/lib/loader.py", 7, "__next__"), read = frame("/w/data.py", 3, "read");
  for (const auto& [stack, is_part] :
       {std::pair<std::vector<Place>, bool>{{read, next, loop}, true}, {{read, body}, false}}) {
    RunSummary run = run_with(stack);
    Observation wait = run.ranks[0].observations[0];
    wait.kind = "input-wait";
    wait.place = loop;
    wait.stack = {next, loop};
    run.ranks[0].observations.push_back(wait);
    const RuleResults results =
        evaluate(std::vector<Rule>{few_rules().front(), loader_rule()}, &run, {}, {});
    REQUIRE(results.findings.size() == 2);
    for (const Finding& f : results.findings)
      CHECK(f.message.ends_with(" It is a part of the wait for input at a.py:20.") ==
            (is_part && f.rule_id == "item"));
  }
}

TEST_CASE("what a line calls may be what blocks") {
  struct Case {
    std::string what;
    double idle_ns;  ///< of the device, per ten steps of 1 ms
    Severity severity;
  };
  for (const Case& c : {Case{"it costs much", 2'000'000, Severity::high},
                        {"it costs next to nothing", 1000, Severity::info}}) {
    CAPTURE(c.what);
    RunSummary run =
        run_with({frame("/w/helpers.py", 3, "to_host"), frame("/w/train.py", 10, "train")});
    run.ranks[0].observations[0].idle_ns.total = c.idle_ns;
    // Its own condition does not hold of what blocked, but it is about such blocks.
    const std::vector<SourceFact> facts = {match("print", "train.py", 10, "train")};
    const RuleResults results = evaluate(few_rules(), &run, facts);
    const auto finding = std::ranges::find(results.findings, "print", &Finding::rule_id);
    REQUIRE(finding != results.findings.end());
    CHECK(finding->status == FindingStatus::measured);
    CHECK(finding->severity == c.severity);
    CHECK_FALSE(finding->gain.has_value());
    CHECK(finding->message.ends_with(
        "what it calls blocked at helpers.py:3: the finding there has the cost."));
  }
}

TEST_CASE("what a run cannot measure keeps its severity where it ran") {
  struct Case {
    std::string what;
    const char* rule;
    bool steps;
    Severity severity;
    const char* ending;
  };
  for (const Case& c : {Case{"no trace shows it", "setting", true, Severity::high,
                             "cannot tell: its rule is about nothing that a trace shows."},
                        {"there are no steps", "item", false, Severity::critical,
                         "cannot tell. No steps were found. Totals hold."}}) {
    CAPTURE(c.what);
    RunSummary run = run_with({frame("/w/other.py", 3, "f")});
    if (!c.steps) {
      run.ranks[0].step_median = 0;
      run.ranks[0].abstentions = {"No steps were found. Totals hold."};
    }
    EvaluateOptions options;
    options.line_evidence["/w/train.py"] = {.watched = {12}, .hit = {12}, .compiled = {}};
    const std::vector<SourceFact> facts = {match(c.rule, "train.py", 12, "main")};
    const RuleResults results = evaluate(few_rules(), &run, facts, options);
    const auto finding = std::ranges::find_if(
        results.findings, [](const Finding& f) { return f.locations.front().file == "train.py"; });
    REQUIRE(finding != results.findings.end());
    CHECK(finding->status == FindingStatus::not_seen);
    CHECK(finding->severity == c.severity);
    CHECK_MESSAGE(finding->message.ends_with(c.ending), finding->message);
  }
}

TEST_CASE("what line evidence proves, and what it cannot") {
  struct Case {
    std::string what;
    EvaluateOptions options;
    bool device;
    FindingStatus status;
    Severity severity;
    const char* said;
  };
  const auto with = [](LineEvidence evidence) {
    EvaluateOptions options;
    options.line_evidence["/w/train.py"] = std::move(evidence);
    return options;
  };
  EvaluateOptions silent = with({.watched = {12}, .hit = {}, .compiled = {}});
  silent.silent_processes = 1;
  EvaluateOptions part = with({.watched = {12}, .hit = {12}, .compiled = {}});
  part.recorded_part = "--delay 3 s";
  EvaluateOptions changed = with({.watched = {12}, .hit = {12}, .compiled = {}});
  changed.run_file_hashes["/w/train.py"] = "2";
  EvaluateOptions namesake = with({.watched = {12}, .hit = {12}, .compiled = {}});
  namesake.run_file_hashes = {{"/w/train.py", "1"}, {"/x/train.py", "2"}};
  EvaluateOptions two_ranks = with({.watched = {12}, .hit = {}, .compiled = {}});
  two_ranks.line_evidence["/x/train.py"] = {.watched = {12}, .hit = {12}, .compiled = {}};
  EvaluateOptions another = with({.watched = {12}, .hit = {12}, .compiled = {}});
  another.files["proj/train.py"] = {"3", {}};
  another.line_evidence = {{"/w/proj/train.py", {.watched = {12}, .hit = {12}, .compiled = {}}}};
  for (const Case& c : std::vector<Case>{
           {"it ran", with({{12}, {12}, {}}), true, FindingStatus::measured, Severity::info,
            "no stall was measured"},
           {"it did not", with({{12}, {}, {}}), true, FindingStatus::not_executed, Severity::info,
            "did not run"},
           {"in one of the places where ranks had it", two_ranks, true, FindingStatus::measured,
            Severity::info, "no stall was measured"},
           {"processes without a word", silent, true, FindingStatus::not_seen, Severity::medium,
            "not every Python process"},
           {"compiled", with({{1}, {}, {12}}), true, FindingStatus::not_seen, Severity::medium,
            "compiled"},
           {"another text", changed, true, FindingStatus::not_seen, Severity::medium,
            "changed since"},
           {"another text of a file of the same name", namesake, true, FindingStatus::measured,
            Severity::info, "no stall was measured"},
           {"a part of the run was recorded", part, true, FindingStatus::not_seen,
            Severity::critical, "(--delay 3 s)"},
           {"without a device", with({{12}, {12}, {}}), false, FindingStatus::not_seen,
            Severity::critical, "no device work"},
           {"another file of the same name ran", another, true, FindingStatus::not_seen,
            Severity::low, "had loaded this file"},
       }) {
    CAPTURE(c.what);
    RunSummary run = run_with({frame("/w/other.py", 3, "f")});
    if (!c.device) run.ranks[0].view = RankView::host;
    const std::vector<SourceFact> facts = {match("item", "train.py", 12, "train")};
    const RuleResults results = evaluate(few_rules(), &run, facts, c.options);
    const auto finding = std::ranges::find_if(
        results.findings, [](const Finding& f) { return f.locations.front().file == "train.py"; });
    REQUIRE(finding != results.findings.end());
    CHECK(finding->status == c.status);
    CHECK(finding->severity == c.severity);
    CHECK_MESSAGE(finding->message.find(c.said) != std::string::npos, finding->message);
  }
}

TEST_CASE("what no process loaded is no part of the run, where that is known") {
  struct Case {
    std::string what;
    bool loaded_only;
    uint32_t silent;
    const char* traced;  ///< a file that stacks of the run name
    bool left_out;
  };
  for (const Case& c :
       {Case{"beside the program", true, 0, "/w/train.py", true},
        {"the folder was asked for", false, 0, "/w/train.py", false},
        {"a process was killed before it could tell", true, 1, "/w/train.py", false},
        {"a stack names it all the same", true, 0, "/w/beside.py", false}}) {
    CAPTURE(c.what);
    EvaluateOptions options;
    options.line_evidence["/w/train.py"] = {};
    options.loaded_only = c.loaded_only;
    options.silent_processes = c.silent;
    const RunSummary run = run_with({frame(c.traced, 3, "f")});
    const std::vector<SourceFact> facts = {match("item", "train.py", 12, "train"),
                                           match("item", "beside.py", 12, "train")};
    const RuleResults results = evaluate(few_rules(), &run, facts, options);
    const auto in = [&](const std::string& file) {
      return std::ranges::count_if(results.findings, [&](const Finding& f) {
        return f.rule_id == "item" && f.locations.front().file == file;
      });
    };
    CHECK(in("train.py") == 1);
    CHECK(in("beside.py") == (c.left_out ? 0 : 1));
    CHECK(results.not_loaded.contains("beside.py") == c.left_out);
  }
}
