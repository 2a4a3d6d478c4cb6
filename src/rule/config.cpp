#include "rule/config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/pyproject.h"
#include "base/settings_file.h"
#include "rule/parse_trace_condition.h"
#include "rule/yaml_reader.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 13> kConfigKeys = {
    "extends",  "rules",      "select",   "ignore",   "exclude", "fail-on", "min-severity",
    "baseline", "severities", "path-map", "per-path", "check",   "libclang"};
constexpr size_t kDeepestExtends = 8;

bool is_pyproject(const fs::path& file) {
  return file.filename() == "pyproject.toml";
}

/// Reads one file over what it extends.
class ConfigReader {
 public:
  ConfigReader(const std::string& file, std::vector<std::string>& chain)
      : file_(file), folder_(fs::path(file).parent_path()), chain_(chain) {}

  Config read() {
    const auto text = read_file(file_, 1 << 20);
    if (!text) throw YamlError{text.error()};
    if (is_pyproject(file_)) {
      const auto settings = pyproject_settings(*text, file_);
      if (!settings) throw YamlError{settings.error()};
      root_ = parse_yaml(*settings, file_);
    } else {
      root_ = parse_yaml(*text, file_);
    }
    config_.file = file_;
    if (!root_) return std::move(config_);  // all of it is commented out
    expect_keys(file_, root_, "a project file", kConfigKeys);
    read_extends();
    for (const std::string& folder : texts("rules")) config_.rule_folders.push_back(beside(folder));
    append(config_.select, rule_ids(root_["select"], "select"));
    append(config_.ignore, rule_ids(root_["ignore"], "ignore"));
    append(config_.exclude, texts("exclude"));
    if (root_["fail-on"]) config_.fail_on = severity(root_["fail-on"], "fail-on");
    if (root_["min-severity"])
      config_.min_severity = severity(root_["min-severity"], "min-severity");
    if (root_["baseline"])
      config_.baseline = beside(yaml_text(file_, root_["baseline"], "baseline"));
    if (root_["libclang"]) {
      const std::string said = yaml_text(file_, root_["libclang"], "libclang");
      config_.libclang = said == "auto" || said == "off" ? said : beside(said);
    }
    read_severities(root_["severities"], config_.severities);
    read_path_map();
    read_per_path();
    read_check();
    return std::move(config_);
  }

 private:
  std::string beside(const std::string& path) const {
    return (folder_ / path).lexically_normal().string();
  }

  static void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  std::vector<std::string> texts(const char* key) {
    const YamlNode node = root_[key];
    return node ? yaml_texts(file_, node, key) : std::vector<std::string>();
  }

  /// Rule ids; whether there are such rules is known when these are read.
  std::vector<std::string> rule_ids(const YamlNode& node, const char* what) {
    if (!node) return {};
    const std::vector<std::string> ids = yaml_texts(file_, node, what);
    for (const YamlNode& item : node.is_list() ? node.items() : std::vector{node}) name_rule(item);
    return ids;
  }

  void name_rule(const YamlNode& id) {
    config_.named_rules.push_back(
        {.id = id.text(), .file = file_, .line = id.line(), .column = id.column()});
  }

  Severity severity(const YamlNode& node, std::string_view what) {
    const std::string word = yaml_text(file_, node, what);
    const auto value = severity_of(word);
    if (!value) yaml_unknown(file_, node, "severity", word, kSeverityNames);
    return *value;
  }

  void need_map(const YamlNode& node, const char* what) {
    if (!node.is_map()) yaml_fail(file_, node, std::string(what) + " must be a map");
  }

  void read_extends() {
    for (const std::string& path : texts("extends")) {
      const std::string other = beside(path);
      if (std::ranges::find(chain_, other) != chain_.end() || chain_.size() >= kDeepestExtends)
        yaml_fail(file_, root_["extends"], "'" + path + "' extends itself, or too many files");
      chain_.push_back(other);
      Config base = ConfigReader(other, chain_).read();
      chain_.pop_back();
      merge(std::move(base));
    }
  }

  // Of several extended files the later wins; lists add up.
  void merge(Config base) {
    // Two extended files may share a third one.
    add_rule_folders(base, config_.rule_folders);
    append(config_.select, base.select);
    append(config_.ignore, base.ignore);
    append(config_.exclude, base.exclude);
    if (base.fail_on) config_.fail_on = base.fail_on;
    if (base.min_severity) config_.min_severity = base.min_severity;
    if (!base.baseline.empty()) config_.baseline = base.baseline;
    if (!base.libclang.empty()) config_.libclang = base.libclang;
    for (const auto& [id, value] : base.severities) config_.severities[id] = value;
    config_.path_map.insert(config_.path_map.end(), base.path_map.begin(), base.path_map.end());
    config_.per_path.insert(config_.per_path.end(), base.per_path.begin(), base.per_path.end());
    config_.named_rules.insert(config_.named_rules.end(), base.named_rules.begin(),
                               base.named_rules.end());
    CheckSettings& check = config_.check;
    if (base.check.step_time) check.step_time = base.check.step_time;
    if (base.check.tolerance) check.tolerance = base.check.tolerance;
    append(check.no_new, base.check.no_new);
    check.repeats = std::max(check.repeats, base.check.repeats);
    if (!base.check.baseline.empty()) check.baseline = base.check.baseline;
    for (ClassBudget& budget : base.check.classes) put(std::move(budget));
    for (const auto& [id, count] : base.check.findings) check.findings[id] = count;
  }

  void put(ClassBudget budget) {
    auto& classes = config_.check.classes;
    const auto known = std::ranges::find(classes, budget.step_class, &ClassBudget::step_class);
    if (known == classes.end())
      classes.push_back(std::move(budget));
    else
      *known = std::move(budget);
  }

  void read_severities(const YamlNode& node, std::map<std::string, Severity>& out) {
    if (!node) return;
    need_map(node, "severities");
    for (const YamlEntry& entry : node.entries()) {
      name_rule(entry.key);
      out[entry.key.text()] = severity(entry.value, "a severity");
    }
  }

  void read_path_map() {
    const YamlNode node = root_["path-map"];
    if (!node) return;
    need_map(node, "path-map");
    for (const YamlEntry& entry : node.entries())
      config_.path_map.emplace_back(entry.key.text(),
                                    yaml_text(file_, entry.value, "a path of path-map"));
  }

  void read_per_path() {
    const YamlNode node = root_["per-path"];
    if (!node) return;
    need_map(node, "per-path");
    static constexpr std::array<std::string_view, 2> kPathKeys = {"ignore", "severities"};
    for (const YamlEntry& entry : node.entries()) {
      expect_keys(file_, entry.value, "a setting of per-path", kPathKeys);
      PathSettings settings{.glob = entry.key.text(), .ignore = {}, .severities = {}};
      settings.ignore = rule_ids(entry.value["ignore"], "ignore");
      read_severities(entry.value["severities"], settings.severities);
      config_.per_path.push_back(std::move(settings));
    }
  }

  void read_check() {
    const YamlNode node = root_["check"];
    if (!node) return;
    static constexpr std::array<std::string_view, 7> kCheckKeys = {
        "step-time", "tolerance", "classes", "findings", "no-new", "repeats", "baseline"};
    expect_keys(file_, node, "check", kCheckKeys);
    if (node["step-time"]) config_.check.step_time = numeric(node["step-time"], "step-time");
    if (node["tolerance"]) {
      const Comparison value = numeric(node["tolerance"], "tolerance");
      if (value.op != Comparison::Op::equal || value.low < 0)
        yaml_fail(file_, node["tolerance"], "tolerance must be a share such as 3 %");
      config_.check.tolerance = value.low;
    }
    if (node["classes"]) read_classes(node["classes"]);
    if (node["findings"]) read_finding_limits(node["findings"]);
    if (node["no-new"]) read_no_new(node["no-new"]);
    if (node["baseline"])
      config_.check.baseline = (folder_ / yaml_text(file_, node["baseline"], "baseline")).string();
    if (node["repeats"]) {
      const double repeats = yaml_number(file_, node["repeats"], "repeats");
      if (!(repeats >= 1 && repeats <= 1000) || repeats != static_cast<unsigned>(repeats))
        yaml_fail(file_, node["repeats"], "repeats must be a whole number, 1 or more");
      config_.check.repeats = static_cast<unsigned>(repeats);
    }
  }

  Comparison numeric(const YamlNode& node, std::string_view what) {
    Comparison comparison = parse_comparison_node(node, file_);
    if (!comparison.numeric())
      yaml_fail(file_, node, std::string(what) + " must be compared with a number",
                "Write for example \"<= 120 ms\" or \"<= 5 %\".");
    return comparison;
  }

  void read_classes(const YamlNode& node) {
    need_map(node, "classes");
    std::vector<std::string_view> known;
    for (size_t i = 0; i < kStepClasses; ++i) known.push_back(to_string(static_cast<StepClass>(i)));
    for (const YamlEntry& entry : node.entries()) {
      const std::string& name = entry.key.text();
      if (std::ranges::find(known, name) == known.end())
        yaml_unknown(file_, entry.key, "class", name, known);
      Comparison comparison = numeric(entry.value, "a class");
      const bool share = comparison.written.find('%') != std::string::npos;
      put({.step_class = name, .comparison = std::move(comparison), .is_share = share});
    }
  }

  void read_finding_limits(const YamlNode& node) {
    need_map(node, "findings");
    for (const YamlEntry& entry : node.entries()) {
      const double count = yaml_number(file_, entry.value, "a limit of findings");
      if (!(count >= 0 && count <= 1e6) || count != static_cast<unsigned>(count))
        yaml_fail(file_, entry.value, "a limit of findings must be a whole number, 0 or more");
      if (!severity_of(entry.key.text())) name_rule(entry.key);
      config_.check.findings[entry.key.text()] = static_cast<unsigned>(count);
    }
  }

  void read_no_new(const YamlNode& node) {
    config_.check.no_new = yaml_texts(file_, node, "no-new");
    for (const YamlNode& item : node.is_list() ? node.items() : std::vector{node})
      if (item.text() != "all") name_rule(item);
  }

  const std::string& file_;
  fs::path folder_;
  std::vector<std::string>& chain_;
  YamlNode root_;
  Config config_;
};

}  // namespace

void add_rule_folders(const Config& config, std::vector<std::string>& folders) {
  for (const std::string& folder : config.rule_folders)
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
}

Result<Config> load_config(const std::string& path) {
  Config config;
  std::vector<std::string> chain = {fs::path(path).lexically_normal().string()};
  const Status status = catch_yaml([&] { config = ConfigReader(path, chain).read(); });
  if (!status) return status.error();
  return config;
}

std::string find_config(const std::string& folder) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(folder, error);
  while (!error && !at.empty()) {
    if (std::string file = settings_file_in(at.string()); !file.empty()) return file;
    if (at == at.parent_path()) break;
    at = at.parent_path();
  }
  return {};
}

}  // namespace stallscope
