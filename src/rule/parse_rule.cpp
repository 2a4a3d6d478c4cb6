// One rule file: YAML in, Rule out.
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/suggest.h"
#include "rule/load.h"
#include "rule/parse_trace_condition.h"
#include "rule/source_condition.h"
#include "rule/yaml_reader.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 17> kRuleKeys = {
    "id",    "title",    "severity", "unmeasured", "languages",   "tier",
    "why",   "source",   "trace",    "gain",       "environment", "fix",
    "cases", "fallback", "startup",  "references", "once"};
constexpr std::array<std::string_view, 4> kLanguages = {"python", "cpp", "cuda", "config"};
constexpr std::array<std::string_view, 2> kTiers = {"defect", "advice"};
constexpr std::array<std::string_view, 3> kGrades = {"safe", "suggestion", "display"};
constexpr std::array<std::string_view, 8> kModels = {
    "none",        "remove-sync",        "remove-kernels",       "shrink-host",
    "batch-calls", "overlap-collective", "coalesce-collectives", "prefetch-input"};
constexpr std::array<std::string_view, 7> kCaseEndings = {".py",   ".cpp",  ".cu", ".jsonl",
                                                          ".json", ".yaml", ".sh"};

bool is_id(std::string_view id) {
  return !id.empty() && id.front() >= 'a' && id.front() <= 'z' &&
         std::ranges::all_of(id, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

/// Reads the keys of one file into one Rule.
class RuleReader {
 public:
  RuleReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Rule read() {
    root_ = parse_yaml(text_, file_);
    if (!root_) throw YamlError{Error{.message = "file is empty", .file = file_}};
    expect_keys(file_, root_, "a rule file", kRuleKeys);
    rule_.file = file_;
    read_head();
    read_conditions();
    read_gain();
    read_fix();
    read_cases();
    return std::move(rule_);
  }

 private:
  YamlNode required(const char* key) {
    const YamlNode node = root_[key];
    if (!node) yaml_fail(file_, root_, "key '" + std::string(key) + "' is missing");
    return node;
  }

  template <size_t N>
  std::string one_of(const YamlNode& node, std::string_view what,
                     const std::array<std::string_view, N>& known) {
    const std::string word = yaml_text(file_, node, what);
    if (std::ranges::find(known, word) == known.end()) yaml_unknown(file_, node, what, word, known);
    return word;
  }

  void read_head() {
    const YamlNode id = required("id");
    rule_.id = yaml_text(file_, id, "id");
    if (!is_id(rule_.id))
      yaml_fail(file_, id, "id '" + rule_.id + "' must be lower-case words joined by '-'");
    if (const std::string stem = fs::path(file_).stem().string(); stem != rule_.id)
      yaml_fail(file_, id, "id '" + rule_.id + "' differs from the file's name '" + stem + "'",
                "Name the file " + rule_.id + ".yaml.");
    rule_.title = yaml_text(file_, required("title"), "title");
    rule_.why = yaml_text(file_, required("why"), "why");
    rule_.severity = *severity_of(one_of(required("severity"), "severity", kSeverityNames));
    if (const YamlNode most = root_["unmeasured"])
      rule_.unmeasured = *severity_of(one_of(most, "unmeasured", kSeverityNames));
    const YamlNode languages = required("languages");
    for (const std::string& word : yaml_texts(file_, languages, "languages")) {
      if (std::ranges::find(kLanguages, word) == kLanguages.end())
        yaml_unknown(file_, languages, "language", word, kLanguages);
      rule_.languages.push_back(*language_of(word));
    }
    if (rule_.languages.empty()) yaml_fail(file_, languages, "languages is empty");
    if (root_["tier"]) rule_.advice = one_of(root_["tier"], "tier", kTiers) == "advice";
    if (root_["fallback"]) rule_.fallback = yaml_bool(file_, root_["fallback"], "fallback");
    if (root_["once"]) {
      static constexpr std::array<std::string_view, 1> kScopes = {"function"};
      rule_.once_per_function = one_of(root_["once"], "once", kScopes) == "function";
    }
    if (root_["startup"]) rule_.startup = yaml_bool(file_, root_["startup"], "startup");
    if (root_["references"])
      rule_.references = yaml_texts(file_, root_["references"], "references");
  }

  void read_conditions() {
    if (const YamlNode source = root_["source"]) {
      rule_.source_text = source.written();
      auto condition = parse_source_condition(source, file_);
      if (!condition) throw YamlError{condition.error()};
      rule_.source = *condition;
    }
    if (root_["trace"]) rule_.trace = parse_trace_conditions(root_["trace"], file_);
    if (const YamlNode environment = root_["environment"]) {
      if (!environment.is_map())
        yaml_fail(file_, environment, "environment must be a map of variables to values");
      for (const YamlEntry& entry : environment.entries())
        rule_.environment.push_back({entry.key.text(), parse_comparison_node(entry.value, file_)});
    }
    if (!rule_.has_source() && rule_.trace.empty() && rule_.environment.empty())
      yaml_fail(file_, root_,
                "the rule can never fire: it has neither source, trace nor environment",
                "Add a `source:` or a `trace:` block.");
    if (rule_.fallback && rule_.trace.empty())
      yaml_fail(file_, root_["fallback"], "a fallback rule needs a `trace:` block");
  }

  // A field of what the rule observes.
  std::string time_field(const YamlNode& node) {
    std::vector<std::string_view> known;
    for (const TraceCondition& condition : rule_.trace) {
      const auto& kinds = observation_kinds();
      const auto kind = std::ranges::find(kinds, condition.kind, &ObservationKind::name);
      for (const auto& [name, meaning] : kind->fields)
        if (name.ends_with("_ns")) known.push_back(name);
    }
    const std::string word = yaml_text(file_, node, "of");
    if (std::ranges::find(known, word) == known.end())
      yaml_unknown(file_, node, "field of time", word, known);
    return word;
  }

  void read_gain() {
    const YamlNode gain = root_["gain"];
    if (!gain) return;
    if (gain.is_text()) {
      rule_.gain = *gain_model_of(one_of(gain, "gain model", kModels));
      return;
    }
    static constexpr std::array<std::string_view, 3> kGainKeys = {"model", "share", "of"};
    expect_keys(file_, gain, "gain", kGainKeys);
    if (!gain["model"]) yaml_fail(file_, gain, "key 'model' is missing");
    rule_.gain = *gain_model_of(one_of(gain["model"], "gain model", kModels));
    if (const YamlNode of = gain["of"]) rule_.gain_of = time_field(of);
    if (!gain["share"]) return;
    rule_.gain_share = yaml_number(file_, gain["share"], "share");
    if (!(rule_.gain_share > 0 && rule_.gain_share <= 1))
      yaml_fail(file_, gain["share"], "share must be above 0 and at most 1");
  }

  void read_fix() {
    const YamlNode fix = root_["fix"];
    if (!fix) return;
    static constexpr std::array<std::string_view, 4> kFixKeys = {"applicability", "before", "after",
                                                                 "edit"};
    expect_keys(file_, fix, "fix", kFixKeys);
    if (const YamlNode grade = fix["applicability"]) {
      const std::string word = one_of(grade, "applicability", kGrades);
      rule_.fix.applicability = word == "safe"         ? Applicability::safe
                                : word == "suggestion" ? Applicability::suggestion
                                                       : Applicability::display;
    }
    for (const char* side : {"before", "after"})
      if (!fix[side]) yaml_fail(file_, fix, "key '" + std::string(side) + "' is missing");
    rule_.fix.before = yaml_text(file_, fix["before"], "before");
    rule_.fix.after = yaml_text(file_, fix["after"], "after");
    if (fix["edit"]) read_edit(fix["edit"]);
  }

  void read_edit(const YamlNode& edit) {
    static constexpr std::array<std::string_view, 5> kEditKeys = {"kind", "argument", "value",
                                                                  "file-has", "rebinds"};
    static constexpr std::array<std::string_view, 4> kKinds = {
        "remove-argument", "add-argument", "remove-statement", "device-in-factory"};
    expect_keys(file_, edit, "edit", kEditKeys);
    if (!edit["kind"]) yaml_fail(file_, edit, "key 'kind' is missing");
    const std::string kind = one_of(edit["kind"], "edit", kKinds);
    CallEdit& out = rule_.edit;
    out.kind = static_cast<EditKind>(1 + (std::ranges::find(kKinds, kind) - kKinds.begin()));
    if (edit["argument"]) out.argument = yaml_text(file_, edit["argument"], "argument");
    if (edit["value"]) out.value = yaml_text(file_, edit["value"], "value");
    if (edit["file-has"]) out.file_has = yaml_text(file_, edit["file-has"], "file-has");
    if (edit["rebinds"]) out.rebinds = yaml_bool(file_, edit["rebinds"], "rebinds");
    const bool of_argument =
        out.kind == EditKind::remove_argument || out.kind == EditKind::add_argument;
    if (of_argument && (out.argument.empty() || out.value.empty()))
      yaml_fail(file_, edit, "edit '" + kind + "' needs `argument` and `value`");
  }

  void read_cases() {
    const YamlNode cases = root_["cases"];
    if (!cases) return;
    static constexpr std::array<std::string_view, 2> kCaseKeys = {"fires", "silent"};
    expect_keys(file_, cases, "cases", kCaseKeys);
    const fs::path folder = fs::path(file_).parent_path();
    for (const bool fires : {true, false}) {
      const YamlNode list = cases[fires ? "fires" : "silent"];
      if (!list) continue;
      for (const std::string& path : yaml_texts(file_, list, fires ? "fires" : "silent")) {
        const auto known = [&](std::string_view ending) { return path.ends_with(ending); };
        if (std::ranges::none_of(kCaseEndings, known))
          yaml_fail(file_, list, "case '" + path + "' is of no known kind",
                    "Cases end in .py, .cpp, .cu, .json, .yaml, .sh or .jsonl.");
        rule_.cases.push_back({(folder / path).string(), fires});
      }
    }
  }

  std::string_view text_;
  const std::string& file_;
  YamlNode root_;
  Rule rule_;
};

}  // namespace

std::string_view to_string(GainModel model) {
  return kModels[static_cast<size_t>(model)];
}

std::optional<GainModel> gain_model_of(std::string_view text) {
  for (size_t i = 0; i < kModels.size(); ++i)
    if (kModels[i] == text) return static_cast<GainModel>(i);
  return std::nullopt;
}

std::string_view to_string(Language language) {
  return kLanguages[static_cast<size_t>(language)];
}

std::optional<Language> language_of(std::string_view text) {
  for (size_t i = 0; i < kLanguages.size(); ++i)
    if (kLanguages[i] == text) return static_cast<Language>(i);
  return std::nullopt;
}

Result<Rule> parse_rule(std::string_view text, const std::string& file) {
  Rule rule;
  const Status status = catch_yaml([&] { rule = RuleReader(text, file).read(); });
  if (!status) return status.error();
  return rule;
}

}  // namespace stallscope
