#include "source/extract/settings.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "source/names/roles.h"

namespace stallscope {
namespace {

constexpr std::string_view kBlank = " \t\r";
// A name repeats the keys it lies under: without bounds a small file could fill the memory.
constexpr size_t kLongestSetting = 100;
constexpr size_t kDeepest = 24;

bool is_variable(std::string_view name) {
  return !name.empty() &&
         (std::isupper(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_') &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
         });
}

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::vector<Setting> json();
  std::vector<Setting> lines(bool yaml);

 private:
  void add(std::string name, std::string_view value, size_t at, size_t end) {
    out_.push_back({std::move(name), std::string(value), static_cast<uint32_t>(at),
                    static_cast<uint32_t>(end), line_});
  }
  std::string_view string_at(size_t& at);
  void command(std::string_view line, size_t at);
  void mapping(std::string_view line, size_t at);

  std::string_view bytes_;
  uint32_t line_ = 1;
  std::vector<Setting> out_;
  struct Key {
    size_t indent;
    std::string name;
  };
  std::vector<Key> keys_;             ///< YAML: those the line lies under
  size_t block_ = std::string::npos;  ///< YAML: indent of the key whose text block we are in
  std::string variable_;              ///< YAML: the `name:` of a `name:`, `value:` pair
};

/// The text of the string literal at `at`, which is moved behind it.
std::string_view Reader::string_at(size_t& at) {
  const char quote = bytes_[at];
  const size_t start = ++at;
  while (at < bytes_.size() && bytes_[at] != quote && bytes_[at] != '\n')
    at += bytes_[at] == '\\' ? 2 : 1;
  at = std::min(at, bytes_.size());
  const std::string_view text = bytes_.substr(start, at - start);
  if (at < bytes_.size() && bytes_[at] == quote) ++at;
  return text;
}

/// JSON as people write it: comments and trailing commas are passed over.
std::vector<Setting> Reader::json() {
  std::vector<std::string> path;
  std::string_view key;
  size_t key_at = 0;
  std::string prefix;
  const auto name = [&] { return prefix.empty() ? std::string(key) : prefix + std::string(key); };
  for (size_t at = 0; at < bytes_.size();) {
    const char c = bytes_[at];
    if (c == '\n') ++line_;
    if (c == '/' && bytes_.substr(at).starts_with("//")) {
      at = std::min(bytes_.find('\n', at), bytes_.size());
    } else if (c == '"') {
      const size_t start = at;
      const std::string_view text = string_at(at);
      const size_t next = bytes_.find_first_not_of(" \t\r\n", at);
      if (next != std::string_view::npos && bytes_[next] == ':') {
        key = text.substr(0, kLongestSetting);
        key_at = start;
        at = next + 1;
      } else if (!key.empty()) {
        add(name(), text, key_at, at);
        key = {};
      }
    } else if (c == '{' || c == '[') {
      path.push_back(prefix);
      if (!key.empty() && path.size() <= kDeepest) prefix = name() + ".";
      key = {};
      ++at;
    } else if (c == '}' || c == ']') {
      if (!path.empty()) {
        prefix = path.back();
        path.pop_back();
      }
      key = {};
      ++at;
    } else if (!key.empty() && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-')) {
      const size_t end = std::min(bytes_.find_first_of(",}] \t\r\n", at), bytes_.size());
      add(name(), bytes_.substr(at, end - at), key_at, end);
      key = {};
      at = end;
    } else {
      ++at;
    }
  }
  return std::move(out_);
}

/// The variables and options of one line of a shell script.
void Reader::command(std::string_view line, size_t offset) {
  constexpr std::string_view kBetween = " \t\r\"'\\();";
  for (size_t at = line.find_first_not_of(kBetween); at < line.size();) {
    if (line[at] == '#' && (at == 0 || kBlank.find(line[at - 1]) != std::string_view::npos)) break;
    size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const size_t equals = word.find('=');
    std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    // NAME="value"
    if (equals != std::string_view::npos && value.empty() && end < line.size() &&
        (line[end] == '"' || line[end] == '\'')) {
      const size_t close = std::min(line.find_first_of(" \t\"'", end + 1), line.size());
      value = line.substr(end + 1, close - end - 1);
      // A variable may hold options, so what is quoted is looked at as well.
      end = value.starts_with("-") ? end : close;
    }
    const std::string_view left = word.substr(0, equals);
    if (word.starts_with("--") && left.size() > 2) {
      size_t next = end;
      if (equals == std::string_view::npos) {
        const size_t after = line.find_first_not_of(" \t\"'", end);
        if (after < line.size() && line[after] != '-' && line[after] != '\\' &&
            line[after] != '#') {
          next = std::min(line.find_first_of(kBetween, after), line.size());
          value = line.substr(after, next - after);
        }
      }
      add(std::string(left), value, offset + at, offset + std::max(end, next));
      // A word behind an option without a value may itself set something.
      end = value.find('=') == std::string_view::npos ? next : end;
    } else if (equals != std::string_view::npos && is_variable(left)) {
      add("$" + std::string(left), value, offset + at, offset + end);
    }
    at = line.find_first_not_of(kBetween, end);
  }
}

/// One line of a YAML file.
void Reader::mapping(std::string_view line, size_t offset) {
  size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos) return;
  if (block_ != std::string::npos && indent > block_) {
    command(line, offset);
    return;
  }
  block_ = std::string::npos;
  if (line[indent] == '#') return;
  bool item = false;
  while (line.substr(indent).starts_with("- ")) {
    item = true;
    indent = std::min(line.find_first_not_of(" \t", indent + 1), line.size());
  }
  if (indent >= line.size()) return;
  while (!keys_.empty() && keys_.back().indent >= indent) keys_.pop_back();
  const size_t colon = line.find(':', indent);
  const std::string_view key =
      colon == std::string_view::npos
          ? ""
          : unquoted(trimmed(line.substr(indent, colon - indent))).substr(0, kLongestSetting);
  const bool maps =
      colon != std::string_view::npos &&
      (colon + 1 >= line.size() || kBlank.find(line[colon + 1]) != std::string_view::npos) &&
      key.find(' ') == std::string_view::npos;
  if (!maps) {
    command(line.substr(indent), offset + indent);  // - CUDA_LAUNCH_BLOCKING=1
    return;
  }
  std::string_view value = trimmed(line.substr(colon + 1));
  const bool quoted = !value.empty() && (value[0] == '"' || value[0] == '\'');
  if (quoted)
    value = value.substr(0, value.find(value[0], 1) + 1);
  else
    value = trimmed(value.substr(0, std::min(value.find(" #"), value.size())));
  if (value.starts_with('#')) value = {};
  std::string name;
  for (const Key& above : keys_) name += above.name + ".";
  name += key;
  keys_.push_back({indent, std::string(key)});
  if (value.starts_with('|') || value.starts_with('>')) {
    block_ = indent;
    return;
  }
  if (value.empty()) return;
  const size_t end = offset + line.size();
  value = unquoted(value);
  add(name, value, offset + indent, end);
  if (is_variable(key)) add("$" + std::string(key), value, offset + indent, end);
  // - name: NCCL_DEBUG
  //   value: TRACE
  if (key == "name" && item) variable_ = value;
  if (key == "value" && is_variable(variable_)) add("$" + variable_, value, offset + indent, end);
  if (key == "value" || (item && key != "name")) variable_.clear();
  if (value.find("--") != std::string_view::npos || value.find('=') != std::string_view::npos)
    command(line.substr(colon + 1), offset + colon + 1);  // run: python train.py --num-workers 0
}

std::vector<Setting> Reader::lines(bool yaml) {
  for (size_t at = 0; at < bytes_.size(); ++line_) {
    const size_t end = std::min(bytes_.find('\n', at), bytes_.size());
    const std::string_view line = bytes_.substr(at, end - at);
    yaml ? mapping(line, at) : command(line, at);
    at = end + 1;
  }
  return std::move(out_);
}

bool value_fits(const Setting* found, const ArgumentTest& test) {
  return std::ranges::any_of(test.any_of, [&](const std::string& wanted) {
    if (wanted == "absent") return found == nullptr;
    if (found == nullptr) return false;
    if (wanted == "present") return true;
    return std::ranges::equal(wanted, found->value, [](unsigned char a, unsigned char b) {
      return std::tolower(a) == std::tolower(b);
    });
  });
}

}  // namespace

bool is_settings_file(std::string_view path) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".json", ".yaml", ".yml", ".sh", ".bash", ".slurm",
                                              ".sbatch", "pyproject.toml"},
      [&](std::string_view ending) { return path.ends_with(ending); });
}

bool is_document(std::string_view path) {
  return path.ends_with(".md");
}

bool is_options_file(std::string_view path) {
  return is_document(path) || path.ends_with(".toml") || path.ends_with(".cfg") ||
         path.ends_with(".ini") || path.ends_with(".gin") || path.ends_with(".conf");
}

std::vector<Setting> settings_of(std::string_view path, std::string_view bytes) {
  if (path.ends_with(".toml")) return {};
  if (path.ends_with(".json")) return Reader(bytes).json();
  return Reader(bytes).lines(path.ends_with(".yaml") || path.ends_with(".yml"));
}

bool names_setting(std::string_view wanted, std::string_view name) {
  if (wanted == name) return true;
  // --num_workers and --num-workers are one option.
  if (wanted.starts_with("--")) {
    return std::ranges::equal(wanted, name,
                              [](char a, char b) { return a == b || (a == '-' && b == '_'); });
  }
  return !wanted.starts_with('$') && name.size() > wanted.size() && name.ends_with(wanted) &&
         name[name.size() - wanted.size() - 1] == '.';
}

void collect_settings(std::string_view bytes, const RuleSet& rules, FileFacts& facts) {
  const auto is_about = [&](const CompiledClause& clause) {
    const SourceClause& c = *clause.clause;
    return !c.settings.empty() && (c.file_has.empty() || holds_text(bytes, c.file_has)) &&
           (c.file_lacks.empty() || !holds_text(bytes, c.file_lacks));
  };
  if (std::ranges::none_of(rules.clauses(), is_about)) return;
  const std::vector<Setting> settings = settings_of(facts.path, bytes);
  const uint32_t guards = is_trial_path(facts.path) ? +kGuardTest : 0u;
  for (const CompiledClause& clause : rules.clauses()) {
    if (!is_about(clause) || (clause.unless & guards) != 0) continue;
    const ArgumentTest& main = clause.clause->settings.front();
    for (const Setting& setting : settings) {
      if (!names_setting(main.name, setting.name) || !value_fits(&setting, main)) continue;
      const bool all = std::ranges::all_of(clause.clause->settings, [&](const ArgumentTest& test) {
        if (&test == &main) return true;
        const auto other = std::ranges::find_if(
            settings, [&](const Setting& s) { return names_setting(test.name, s.name); });
        return value_fits(other == settings.end() ? nullptr : &*other, test);
      });
      if (!all) continue;
      Candidate out;
      out.rule = clause.rule;
      out.clause = static_cast<uint32_t>(&clause - rules.clauses().data());
      out.first_byte = setting.first_byte;
      out.last_byte = setting.last_byte;
      out.first_line = out.last_line = out.anchor_line = setting.line;
      const size_t start = setting.first_byte == 0 ? std::string_view::npos
                                                   : bytes.rfind('\n', setting.first_byte - 1);
      const size_t line = start == std::string_view::npos ? 0 : start + 1;
      out.column = static_cast<uint32_t>(setting.first_byte - line + 1);
      out.block = setting.first_byte;
      out.guards = guards;
      const size_t end = std::min(bytes.find('\n', line), bytes.size());
      out.line_text = trimmed(bytes.substr(line, end - line)).substr(0, 200);
      facts.candidates.push_back(std::move(out));
    }
  }
}

}  // namespace stallscope
